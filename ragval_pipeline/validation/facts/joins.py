"""Words that a chunk joins where its page has a break, or divides where it has none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ragval_pipeline.text.folding import LIGATURE, FoldedText, fold
from ragval_pipeline.text.markup import without_markup
from ragval_pipeline.validation.facts.page import Range, Searched
from ragval_pipeline.validation.facts.spans import LABELS, Alignment, Span, same_letters
from ragval_pipeline.validation.thresholds import FEWEST

#: Maximum joins examined per chunk.
MOST_JOINS = 2000  # work
#: Characters shown on either side of a join without words.
_SHOWN = 6  # shown
_MARKS = re.compile(r"[_./:=@#$%&+*<>|,;()\[\]{}]+")
#: Where a page allows a word to be divided.
_SOFT_HYPHEN = "\u00ad"
#: A word that goes on in the next line.
_HYPHEN = re.compile("[-\u00ad\u2010][ \t]*\n\\s*")
_CLOSING = re.compile("[.!?:;,)]+[\"'\u201d\u2019\u00bb]*")


def joined_words(chunk: Alignment, page: Searched) -> list[str]:
    """Words are joined or divided, each as the words there in the chunk, the latter with a blank."""
    text = chunk.text
    bare: list[str] = []
    punctuated: list[str] = []
    for at in islice(_joins(chunk, page.folded), MOST_JOINS):
        start, end = _blanks_around(text, at)
        word = text.shown[start:end]
        if not _stands_there(chunk, at, *text.offsets.searchsorted([start, end]).tolist()):
            continue
        if page.source is not None and page.source.has(word):
            continue
        if _is_markup(text, start, end):
            continue
        if text.apart[at]:
            if _CLOSING.fullmatch(text.shown, int(text.offsets[at - 1]) + 1, int(text.offsets[at])):
                (bare if _begins_a_sentence(text, at) else punctuated).append(word)
        # Of an address or identifier the part between marks.
        elif all(
            page.whole(letters, one_word=True) is None
            for letters in (fold(word), text.letters[slice(*text.whole_words(at, at + 1))])
        ):
            bare.append(word)
    for at, lost in islice(_without_marks(chunk, page.folded), MOST_JOINS):
        start, end = _blanks_around(text, at)
        word = text.shown[start:end]
        if page.source is None or not page.source.has(word):
            (bare if lost.strip("_") == "" else punctuated).append(word)
    bare += islice(_joined_lines(chunk, page), MOST_JOINS)
    bare += islice(_divided_words(chunk, page), MOST_JOINS)
    if bare or len(punctuated) >= FEWEST:
        return list(dict.fromkeys([*bare, *punctuated]))
    return []


def _divided_words(chunk: Alignment, page: Searched) -> Iterator[str]:
    """Words of the page that a chunk divides at the end of a line, beside a ligature, or at a soft hyphen.

    Text from a PDF is divided at the first two; a converter may write a blank for a soft hyphen, as
    https://github.com/yfedoseev/pdf_oxide/issues/1412 describes. Blanks elsewhere say nothing: an extraction may write
    one between two HTML elements.
    """
    text = chunk.text
    for span in chunk.spans:
        if span.kind != "run":
            continue
        inner, theirs = slice(span.start + 1, span.end), slice(span.place + 1, span.beyond)
        parted = text.apart[inner] & ~page.folded.apart[theirs] & ~text.alone[inner]
        for at in (span.start + 1 + parted.nonzero()[0]).tolist():
            before, after = int(text.offsets[at - 1]), int(text.offsets[at])
            gap = text.shown[before + 1 : after]
            place = span.place + at - span.start
            between = page.folded.shown[int(page.folded.offsets[place - 1]) + 1 : int(page.folded.offsets[place])]
            may_break = _SOFT_HYPHEN in between or _is_beside_ligature(text.letters, at)
            if _HYPHEN.fullmatch(gap) or (gap.isspace() and may_break):
                word = [there - span.place + span.start for there in page.folded.whole_words(place, place + 1)]
                yield " ".join(text.between(max(word[0], span.start), min(word[1], span.end)).split())


def _is_beside_ligature(letters: str, at: int) -> bool:
    """Whether the letters directly before or from a place on may be a ligature."""
    before = letters[max(at - 3, 0) : at]  # definition
    ends = (before[-size:] for size in (2, 3))  # definition
    return bool(LIGATURE.match(letters, at)) or any(map(LIGATURE.fullmatch, ends))


def _without_marks(chunk: Alignment, page: FoldedText) -> Iterator[tuple[int, str]]:
    """Letters directly after another, between which the page has marks but no whitespace: ``max_tokens``, ``os.path``.

    Each comes with these marks. Quotes, apostrophes and backslashes are written in different ways, and a hyphen may
    only divide a word.
    """
    text = chunk.text
    for span in chunk.spans:
        if span.kind != "run":
            continue
        inner, theirs = slice(span.start + 1, span.end), slice(span.place + 1, span.beyond)
        marked = page.apart[theirs] & ~page.spaced[theirs] & ~text.apart[inner] & ~text.alone[inner]
        for at in marked.nonzero()[0].tolist():
            place = span.place + 1 + at
            marks = page.shown[int(page.offsets[place - 1]) + 1 : int(page.offsets[place])]
            if _MARKS.fullmatch(marks):
                yield span.start + 1 + at, marks


def _joined_lines(chunk: Alignment, page: Searched) -> Iterator[str]:
    """Where lines of the page run into the one before, such as a heading and its paragraph, in scripts without spaces.

    Between words of such a script a blank says nothing, but each block of a page begins a line.
    """
    text = chunk.text
    for span in chunk.spans:
        if span.kind != "run":
            continue
        inner = slice(span.start + 1, span.end)
        alone = text.alone[inner] | text.alone[span.start : span.end - 1]
        begun = page.folded.spaced[span.place + 1 : span.beyond] & alone & ~text.apart[inner]
        for at in (span.start + 1 + begun.nonzero()[0]).tolist():
            if page.begins_line(span.place + at - span.start):
                start, end = _blanks_around(text, at)
                offset = int(text.offsets[at])
                yield text.shown[max(start, offset - _SHOWN) : min(end, offset + _SHOWN)]


def _begins_a_sentence(text: FoldedText, at: int) -> bool:
    """Whether a word after punctuation begins a sentence: initials and code may be written with fewer blanks."""
    before, after = int(text.offsets[at - 1]), int(text.offsets[at])
    ended = text.shown[max(before - 1, 0) : before + 1].isalnum() and set(text.shown[before + 1 : after]) & set(".!?:")
    return bool(ended) and text.shown[after].isupper() and not text.shown[after + 1 : after + 2].isupper()


def _is_markup(text: FoldedText, start: int, end: int) -> bool:
    """Whether a word is markup in its line: a page shows the kind of an admonition as its title, ``.. seealso::``."""
    line = text.shown.rfind("\n", 0, start) + 1
    return not fold(without_markup(text.shown[line:end])[start - line :])


def _stands_there(chunk: Alignment, at: int, first: int, last: int) -> bool:
    """Whether the page has all letters of some words in its text, except a label that ends at the join.

    An address or file name also has the words of a title, next to others that are not text of the page.
    """
    beside = [span for span in chunk.spans if span.start < last and first < span.end]
    is_text = all(span.kind == "run" or span.end == at for span in beside)
    return is_text and bool(chunk.found[first:last].all())


def _joins(chunk: Alignment, page: FoldedText) -> Iterator[int]:
    """Letters preceded by whitespace on the page but not in the chunk, between whole words of the page."""
    before: Span | None = None
    for span in chunk.spans:
        if before is not None and before.end == span.start:
            if before.kind == span.kind == "run":
                yield from _joins_between(chunk.text, page, span.start, before.beyond, span.place)
            elif span.kind == "run" and before.kind in LABELS and page.spaced[span.place]:
                # A stored title or heading runs into the text.
                yield from [] if chunk.text.apart[span.start] or chunk.text.alone[span.start] else [span.start]
        if span.kind == "run":
            yield from _joins_within(chunk.text, page, span)
        before = span


def _joins_between(text: FoldedText, page: FoldedText, at: int, left: int, right: int) -> Iterator[int]:
    """Where two pieces that are separate on the page meet, if both are at a word boundary there.

    Either piece may extend a few letters too far, into a word that ends or begins like the other one.
    """
    for step in (
        *range(same_letters(text, page, at, left, 1) + 1),
        *range(-1, -same_letters(text, page, at - 1, right - 1, -1) - 1, -1),
    ):
        parted = left + step >= len(page.letters) or page.spaced[left + step]
        place = at + step
        if not 0 < place < len(text.letters) or right + step >= len(page.letters):
            continue
        if parted and page.spaced[right + step] and not text.apart[place] and not text.alone[place]:
            yield place
            return


def _joins_within(text: FoldedText, page: FoldedText, span: Span) -> list[int]:
    first, last, place = span.start, span.end, span.place
    theirs = page.spaced[place + 1 : span.beyond]
    ours = text.spaced[first + 1 : last] | text.alone[first + 1 : last] | text.alone[first : last - 1]
    joins = (first + 1 + (theirs & ~ours).nonzero()[0]).tolist()
    return [at for at in joins if _whole_words(text, page, at, span)]


def _whole_words(text: FoldedText, page: FoldedText, at: int, span: Span) -> bool:
    """Whether the joined words begin and end with words of the page: else it is a similar word."""
    first, last = text.whole_words(at, at + 1)
    start, end = max(first, span.start), min(last, span.end)
    begins = start > span.start or bool(page.word_starts[span.place])
    after = span.place + end - span.start
    ends = after >= len(page.letters) or bool(page.word_starts[after])
    return begins and bool(page.word_starts[span.place + start - span.start]) and ends


def _blanks_around(text: FoldedText, at: int) -> Range:
    """Start and end of the whitespace-separated token around a letter, in the shown text."""
    offset = int(text.offsets[at])
    before, after = text.shown[max(0, offset - 40) : offset], text.shown[offset : offset + 40]  # work
    return offset - len(re.split(r"\s", before)[-1]), offset + len(re.split(r"\s", after)[0])
