"""A text that others are looked for in, by the places of its letters: a page, or the labels stored with a chunk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.sources.page_text import Block
from ragval_pipeline.text.folding import FoldedText, fold, joined
from ragval_pipeline.text.grams import GramIndex

#: Occurrences of a word or label that are looked at until one stands there as a whole.
OCCURRENCES = 64  # work

#: Letters of a page, from the first to before the second.
Range = tuple[int, int]


class Searched:
    """Some texts to look in, the first parts first.

    Args:
        parts: The texts; nothing is found across two of them.
    """

    def __init__(self, *parts: str | None) -> None:
        self._parts = [part for part in parts if part]
        self._indexes: dict[int, GramIndex] = {}

    @cached_property
    def folded(self) -> FoldedText:
        """All parts, with separators between them."""
        return FoldedText.of(joined(self._parts))

    @property
    def letters(self) -> str:
        """The letters of all parts; every place is a position in them."""
        return self.folded.letters

    @cached_property
    def _blanks_joined(self) -> str:
        return " ".join(self.folded.shown.split())

    def has_as_it_is(self, shown: str) -> bool:
        """Whether a text in NFKC stands here, marks and all, with blanks where it has blanks."""
        return " ".join(shown.split()) in self._blanks_joined

    def index(self, width: int) -> GramIndex:
        """The runs of ``width`` letters."""
        if width not in self._indexes:
            self._indexes[width] = GramIndex(self.letters, width)
        return self._indexes[width]

    def place(self, letters: str, *, occurrence: int = 0) -> int | None:
        """Where the letters stand for the first time, or after some others; None when they do not."""
        start = self.letters.find(letters)
        while occurrence and start >= 0:
            start, occurrence = self.letters.find(letters, start + 1), occurrence - 1
        return None if start < 0 else start

    def whole(self, letters: str, near: int | None = None, *, one_word: bool = False) -> int | None:
        """Where the letters stand from the beginning of a word to the end of one; None when they do not.

        Args:
            letters: Folded words.
            near: The place that is nearest to this one; None: the first.
            one_word: Only where they are one word.
        """
        if not letters:
            return None
        text, at = self.letters, -1
        found: int | None = None
        for _ in range(OCCURRENCES):
            at = text.find(letters, at + 1)
            if at < 0:
                break
            starts, after = self.folded.word_starts, at + len(letters)
            if not starts[at] or (after < len(text) and not starts[after]):
                continue
            if one_word and starts[at + 1 : after].any():
                continue
            if near is None:
                return at
            if found is not None and abs(found - near) <= abs(at - near):
                break
            found = at
        return found


def searched_labels(labels: Iterable[str]) -> Searched:
    """Title, headings and the like that are stored with a chunk."""
    return Searched(*dict.fromkeys(labels))


class Page(Searched):
    """A page, with the places of the blocks of its content.

    All that stands between its body tags is looked in, since an extractor may have taken any of it; what the content
    has in other words (a heading without the label of its anchor) comes behind, then the title and texts of attributes.

    Args:
        record: The page's copy.
    """

    def __init__(self, record: PageRecord) -> None:
        self.blocks: tuple[Block, ...] = record.blocks
        lines = ((number, line) for number, block in enumerate(record.blocks) for line in block.text.split("\n"))
        self._lines = [(number, line, fold(line)) for number, line in lines if line]
        self._body = [fold(line) for line in record.body.split("\n")]
        self._at = _lines_within([letters for _, _, letters in self._lines], self._body)
        extra = [line for (_, line, _), at in zip(self._lines, self._at, strict=True) if at is None]
        super().__init__(record.body, *extra, record.title, record.attributes)

    @cached_property
    def places(self) -> list[list[Range]]:
        """Where the letters of each block stand: a range for each of its lines that has any."""
        starts = [0, *accumulate(map(len, self._body))]
        behind = starts[-1]
        places: list[list[Range]] = [[] for _ in self.blocks]
        for (number, _, letters), at in zip(self._lines, self._at, strict=True):
            if at is None:
                start = behind + 1  # the separator
                behind = start + len(letters)
            else:
                start = starts[at[0]] + at[1]
            if letters:
                places[number].append((start, start + len(letters)))
        return places


def _lines_within(content: Sequence[str], body: Sequence[str]) -> list[tuple[int, int] | None]:
    """The line of the body that each line of the content is, or is part of, and where in it.

    None where the body has it in other words.
    """
    from rapidfuzz.distance import LCSseq

    at: list[tuple[int, int] | None] = [None] * len(content)
    for block in LCSseq.opcodes(content, body):
        if block.tag == "equal":
            for step in range(block.src_end - block.src_start):
                at[block.src_start + step] = block.dest_start + step, 0
        elif block.tag == "replace":
            # A heading and the label of its anchor.
            line = block.dest_start
            for number in range(block.src_start, block.src_end):
                found = next((other for other in range(line, block.dest_end) if content[number] in body[other]), None)
                if found is not None and content[number]:
                    at[number] = found, body[found].index(content[number])
                    line = found
    return _beside_what_follows(at, content, body)


def _beside_what_follows(
    at: list[tuple[int, int] | None], content: Sequence[str], body: Sequence[str]
) -> list[tuple[int, int] | None]:
    """The same with each line at its last place in front of the next: a menu may have a heading's words before it."""
    places: dict[str, list[int]] = {}
    for place, letters in enumerate(body):
        places.setdefault(letters, []).append(place)
    following: int | None = None
    for number in range(len(at) - 1, -1, -1):
        found = at[number]
        if found is None:
            continue
        if following is not None and body[found[0]] == content[number]:
            same = places[content[number]]
            last = bisect_left(same, following) - 1
            if last >= 0 and same[last] > found[0]:
                found = same[last], 0
                at[number] = found
        following = found[0]
    return at
