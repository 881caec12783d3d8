"""Writing between words of a page: addresses, attributes and marks, across which the page goes on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.spans import Alignment, Span

#: What blanks, quotes, brackets and bars part.
_PIECE = re.compile(r"[^\s\"'`\[\](){}<>|]+")
#: What stands before or behind a piece in brackets; and what names have in them, and words have not.
_OPENED, _CLOSED = re.compile(r"[\[({<|][\"'`]?\Z"), re.compile(r"[\"'`]?[\])}>|\[]")
_NAME = re.compile(r"[/#=\\]|[.:]\w")
#: In brackets of its own, or with a sign before it, any word is one.
_ONLY = re.compile(r"(?:\[\[|<<|\{)\Z"), re.compile(r"\]\]|>>|\}")
_FIELD = re.compile(r":[\w-]+:|(?:#\+|\\|#(?=\w+\())\w+|:(?=\w+:/)")
#: Pieces without a letter between that are looked at together.
_MOST = 8  # work
#: Places of the letters beside a piece that are looked at.
_PLACES = 64  # work


class _Piece(NamedTuple):
    """What may be writing, from one character to before another, and its letters."""

    start: int
    end: int
    first: int
    last: int


def without_inserted(match: Alignment, page: Searched) -> FoldedText:
    """The text without pieces that a source writes and no page shows, where the page goes on across them.

    Args:
        match: The text on its page.
        page: The page.
    """
    text = match.text
    found = _signed(match)
    if not found:
        return text
    letters = text.letters
    # The letters that no such piece holds, from each of them on.
    kept, number, at = "", 0, 0
    shown, shown_from = list[str](), 0
    bare = [letters[one.last : other.first] for one, other in pairwise(found)] + [letters[found[-1].last :]]
    while number < len(found):
        own = found[number]
        kept = (kept + letters[at : own.first])[-SIZE:]
        upto = number
        while upto + 1 < len(found) and upto - number < _MOST and not bare[upto]:
            upto += 1
        for last in range(upto, number - 1, -1):
            if _goes_on(page, kept, letters, found, bare, last):
                shown += text.shown[shown_from : own.start], " " * (found[last].end - own.start)
                shown_from = found[last].end
                at, number = found[last].last, last + 1
                break
        else:
            kept = (kept + letters[own.first : own.last])[-SIZE:]
            at, number = own.last, number + 1
    return FoldedText.of("".join((*shown, text.shown[shown_from:]))) if shown else text


def _goes_on(
    page: Searched, left: str, letters: str, found: Sequence[_Piece], bare: Sequence[str], last: int
) -> bool:
    at = found[last].last
    right = letters[at : at + SIZE]
    following = _joined(bare[last:])
    return any(_stands(page, left, then) for then in dict.fromkeys((right, following)))


def _joined(bare: Iterable[str]) -> str:
    following = ""
    for own in bare:
        following += own
        if len(following) >= SIZE:
            break
    return following[:SIZE]


def _stands(page: Searched, left: str, right: str) -> bool:
    """Whether the page has some letters right behind others; without either, at the end or beginning of a line."""
    if not left or not right:
        letters = left or right
        return len(letters) == SIZE and any(
            page.begins_line(place + len(left)) for place in page.first_places(letters, _PLACES)
        )
    half = SIZE // 2
    return any(
        len(one) + len(other) >= SIZE and page.place(one + other) is not None
        for one, other in dict.fromkeys(((left, right), (left, right[:half]), (left[-half:], right)))
        if len(one) == SIZE or len(other) == SIZE or (one, other) == (left, right)
    )


def _signed(match: Alignment) -> list[_Piece]:
    import numpy as np

    text = match.text
    spans = [found.span() for found in _PIECE.finditer(text.shown) if _is_signed(text.shown, found)]
    if not spans:
        return []
    cuts = np.searchsorted(text.offsets, np.array(spans)).tolist()
    return [
        _Piece(*span, *cut)
        for span, cut in zip(spans, cuts, strict=True)
        if cut[1] > cut[0] and not _is_in_place(match.spans, *cut)
    ]


def _is_in_place(spans: Sequence[Span], first: int, last: int) -> bool:
    at = bisect_right(spans, first, key=itemgetter(0)) - 1
    return at >= 0 and spans[at].end >= last and spans[at].length > last - first


def _is_signed(shown: str, piece: re.Match[str]) -> bool:
    before, after = shown[max(0, piece.start() - 2) : piece.start()], shown[piece.end() : piece.end() + 2]
    if _NAME.search(piece[0]) and (_OPENED.search(before) or _CLOSED.match(after)):
        return True
    if "/" in piece[0] and (before[-1:] in ("", "\n", "]") and (before[-1:] == "]" or after[:1] in ("", "\n"))):
        return True
    return bool(_FIELD.match(piece[0]) or _ONLY[0].search(before) or _ONLY[1].match(after))
