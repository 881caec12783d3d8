"""The words of a page in which the texts of its chunks are searched for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.text.folding import fold, words_of
from ragval_pipeline.text.markup import markup_kind, markup_pieces
from ragval_pipeline.validation.facts.damage import Passage, damaged_passages, squashed
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.proven import Shown
from ragval_pipeline.validation.thresholds import FEWEST


class PageWords:
    """The words of a page in which texts are searched for.

    Content is searched by letters: extractions use whitespace differently.

    Attributes:
        body: Everything between its body tags.
    """

    def __init__(self, record: PageRecord, content: Searched) -> None:
        self._record, self._content = record, content
        self.body = record.body

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its title and its headings."""
        return (self._record.title or "", *(heading.text for heading in self._record.headings))

    @cached_property
    def shown(self) -> Shown:
        """Everything that it shows, and its source."""
        record = self._record
        return Shown(f"{record.title}\n{record.body}\n{record.attributes}\n{record.source}")

    @cached_property
    def _shown(self) -> str:
        """Title and body, ``squashed``."""
        return squashed(f"{self._record.title} {self._record.body}")

    @property
    def damaged(self) -> tuple[str, ...]:
        """The words that it shows as if decoded wrongly, because it is about such text."""
        found = damaged_passages(f"{self._record.title}\n{self._record.body}")
        return tuple(sorted({word for passage in found for word in passage.words}))

    @cached_property
    def _seen(self) -> str:
        """What it shows and what it was made from, without whitespace and case."""
        return "".join(f"{self._record.title}{self._record.body}{self._record.source}".split()).casefold()

    def has_written(self, piece: str) -> bool:
        """Whether it shows a piece of code, or its Markdown has it, whatever the line breaks."""
        return "".join(piece.split()).casefold() in self._seen

    @cached_property
    def markup_kinds(self) -> frozenset[str]:
        """The kinds of markup that it shows as code, or its Markdown has."""
        record = self._record
        return frozenset(map(markup_kind, markup_pieces(f"{record.title}\n{record.body}\n{record.source}")))

    def lacks(self, passage: Passage) -> bool:
        """Whether it does not show a damaged passage itself."""
        return not passage.words or any(word not in self._shown for word in passage.words)

    def has_meant(self, passage: Passage) -> bool:
        """Whether it shows what a damaged passage should read."""
        return passage.after is not None and squashed(passage.after) in self._shown

    def held(self, words: Sequence[str], *, last: bool = False) -> int:
        """How many of the first, or last, words are in its content, in pieces of ``FEWEST`` words or more.

        Between them extractions omit labels of buttons and tabs; within them may be texts of attributes and line
        numbers of code.
        """
        ordered, count = tuple(words[::-1] if last else words), 0
        for each in dict.fromkeys((ordered, tuple(word.lstrip("0123456789") for word in ordered))):
            for skipped in range(FEWEST if count < len(ordered) else 0):
                held = self._held(each[skipped:], last=last)
                count = max(count, skipped + held) if held >= FEWEST or not skipped else count
        while FEWEST <= count < len(ordered) and (held := self._piece(ordered[count:], last=last)) >= FEWEST:
            count += held
        return count

    def _held(self, ordered: Sequence[str], *, last: bool) -> int:
        first = self._piece(ordered, last=last)  # the first words of a formula's source may be anywhere
        count = first if first >= len(self._attribute(ordered, last=last)) else 0
        while count < len(ordered):
            text = self._attribute(ordered[count:], last=last)
            # The adjoining text is in the content too; the words alone may be too few.
            beyond = self._piece(ordered[count + len(text) :], last=last) if text else 0
            if not beyond and len(ordered) > count + len(text):
                break
            count += len(text) + beyond
        return max(first, min(count, len(ordered)))

    def _piece(self, words: Sequence[str], *, last: bool) -> int:
        """How many of some words its content has in one piece, from the first, or from the last backwards."""

        def lacks(count: int) -> bool:
            # A vowel sign of a script without spaces is a word, but not a letter.
            return self._content.place(fold("".join(words[:count][::-1] if last else words[:count]))) is None

        if words and not lacks(len(words)):
            return len(words)
        # Monotonic: binary search.
        return bisect_left(range(1, len(words)), True, key=lacks)

    def _attribute(self, words: Sequence[str], *, last: bool) -> tuple[str, ...]:
        """The longest attribute text that is a prefix of some words, or vice versa; empty without one."""
        known = self._attributes[last].get(words[0], ()) if words else ()
        return next((text for text in known if tuple(words[: len(text)]) == text[: len(words)]), ())

    @cached_property
    def _attributes(self) -> tuple[dict[str, list[tuple[str, ...]]], ...]:
        """The words of attribute texts by first word, and reversed by last word, longest first."""
        lines = {tuple(words_of(line)) for line in self._record.attributes.split("\n")}
        found: tuple[dict[str, list[tuple[str, ...]]], ...] = ({}, {})
        for words in sorted(filter(None, lines), key=len, reverse=True):
            for by_outermost, text in zip(found, (words, words[::-1]), strict=True):
                by_outermost.setdefault(text[0], []).append(text)
        return found
