"""Writing between words of a page: addresses, attributes and marks, across which the page goes on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.spans import Span

#: What blanks, quotes, brackets and bars part.
_PIECE = re.compile(r"[^\s\"'`\[\](){}<>|\u27e8\u27e9\w]*\w[^\s\"'`\[\](){}<>|\u27e8\u27e9]*")
#: What stands before or behind a piece in brackets; and what names have in them, and words have not.
_OPENED, _CLOSED = re.compile(r"[\[({<|][\"'`]?\Z"), re.compile(r"[\"'`]?[\])}>|\[]")
_NAME = re.compile(r"[/#=\\]|[.:][^\W\d]")
#: In brackets of its own, or with a sign before it, any word is one.
_ONLY = re.compile(r"(?:\[\[|<<|\{)\Z"), re.compile(r"\]\]|>>|\}")
_FIELD = re.compile(r":[\w-]+:|(?:#\+|\\|#(?=\w+\())\w+|:(?=\w+:/)")
#: The mark of a list's item or of a line, the number of a link.
_MARK = re.compile(r"(?:(?<!\S)\d{1,4}[.)]?(?=\s|\Z)|(?<=[\[\u27e8])(?:\d{1,4}|code)(?=[\]\u27e9])|(?<=\()BUTTON(?=\)))")
#: Pieces without a letter between that are looked at together.
_MOST = 8  # work
#: Characters of the page in which such a piece is looked for.
_NEAR = 200  # work
#: Pieces behind one that are taken for writing or not.
_AHEAD = 5  # work
_SQUARE = ("[", "\u27e8"), ("]", "\u27e9")
#: Places of the letters beside a piece that are looked at.
_PLACES = 64  # work


class _Piece(NamedTuple):
    """What may be writing, from one character to before another, and its letters."""

    start: int
    end: int
    first: int
    last: int
    is_number: bool


def without_inserted(text: FoldedText, spans: Sequence[Span], page: Searched) -> FoldedText:
    """The text without pieces that a source writes and no page shows, where the page goes on across them.

    Args:
        text: The text.
        spans: Where its letters stand on the page.
        page: The page.
    """
    pieces = _signed(text, spans)
    letters, kept, at, number = text.letters, "", 0, 0
    shown, shown_from = list[str](), 0
    while number < len(pieces):
        own = pieces[number]
        kept = (kept + letters[at : own.first])[-SIZE:]
        last = _dropped_upto(text, pieces, number, kept, page)
        if last is None:
            at, number = own.first, number + 1
        else:
            shown += text.shown[shown_from : own.start], " " * (pieces[last].end - own.start)
            shown_from, at, number = pieces[last].end, pieces[last].last, last + 1
    return FoldedText.of("".join((*shown, text.shown[shown_from:]))) if shown else text


def _dropped_upto(text: FoldedText, pieces: Sequence[_Piece], number: int, left: str, page: Searched) -> int | None:
    """The last of the pieces from one on without a letter between across which the page goes on; None without."""
    upto = number
    while upto + 1 < len(pieces) and upto + 1 - number < _MOST and pieces[upto + 1].first == pieces[upto].last:
        upto += 1
    for last in range(upto, number - 1, -1):
        rests = list(_rests(text.letters, pieces, last))
        if left and any(rests) and any(
            _follows(page.letters, place + len(left), rest, SIZE - len(left))
            for place in page.first_places(left, _PLACES)
            for rest in rests
        ):
            return last
        is_number = all(piece.is_number for piece in pieces[number : last + 1])
        is_sure = all(_is_sure(text.shown, piece) for piece in pieces[number : last + 1])
        if (is_sure or not left) and any(_begins(page, rest, is_number) for rest in rests):
            return last
        if left and not any(rests) and _ends(page, left, is_number, in_line=is_bracketed(text.shown, pieces[last])):
            return last
    return None


def _rests(letters: str, pieces: Sequence[_Piece], last: int) -> Iterator[str]:
    """The letters behind a piece, with and without each of the pieces that follow."""
    ways = [("", pieces[last].last)]
    for number in range(last + 1, min(last + 1 + _AHEAD, len(pieces) + 1)):
        upto = pieces[number].first if number < len(pieces) else len(letters)
        ways = [(rest + letters[at:upto], upto) for rest, at in ways]
        done = [rest for rest, _ in ways if len(rest) >= SIZE]
        yield from (rest[:SIZE] for rest in done)
        ways = [(rest, at) for rest, at in ways if len(rest) < SIZE]
        if number < len(pieces):
            ways += [(rest, pieces[number].last) for rest, _ in ways]
    yield from (rest for rest, _ in ways)


def _follows(letters: str, place: int, rest: str, least: int) -> bool:
    """Whether enough of some letters stand at a place."""
    size = max(least, min(len(rest), SIZE // 2))
    return bool(rest) and len(rest) >= size and letters.startswith(rest[:size], place)


def _begins(page: Searched, rest: str, is_number: bool) -> bool:
    """Whether some letters stand where the page shows no such piece before them."""
    return len(rest) == SIZE and any(
        bool(page.folded.word_starts[place]) and not _has_own(page, place, is_number, behind=False)
        for place in page.first_places(rest, _PLACES)
    )


def _ends(page: Searched, left: str, is_number: bool, *, in_line: bool) -> bool:
    """The same of letters at the end of a text; unless they may stand in one, they end a line."""
    return len(left) == SIZE and any(
        not _has_own(page, place + SIZE, is_number, behind=True)
        and (in_line or place + SIZE == len(page.letters) or page.begins_line(place + SIZE))
        for place in page.first_places(left, _PLACES)
    )


def _has_own(page: Searched, letter: int, is_number: bool, *, behind: bool) -> bool:
    """Whether the page shows a piece of that kind itself before a letter, or behind the one before it."""
    shown, offsets = page.folded.shown, page.folded.offsets
    if behind:
        at = int(offsets[letter - 1]) + 1
        piece = _PIECE.search(shown, at, at + _NEAR)
    else:
        at = int(offsets[letter])
        piece = deque(_PIECE.finditer(shown, max(0, at - _NEAR), at), maxlen=1)
        piece = piece[0] if piece else None
    if piece is None:
        return False
    if not is_number:
        return _NAME.search(piece[0]) is not None or _is_signed(shown, piece)
    # The numbers of lines and items stand in the line.
    between = shown[at : piece.start()] if behind else shown[piece.end() : at]
    return piece[0].strip(".)").isdigit() and "\n" not in between


def is_bracketed(shown: str, piece: _Piece) -> bool:
    before, after = shown[max(0, piece.start - 2) : piece.start], shown[piece.end : piece.end + 2]
    return bool(_OPENED.search(before) or _CLOSED.match(after))


def _is_sure(shown: str, piece: _Piece) -> bool:
    return shown[piece.start - 1 : piece.start] in _SQUARE[0] and shown[piece.end : piece.end + 1] in _SQUARE[1]


def _signed(text: FoldedText, placed: Sequence[Span]) -> list[_Piece]:
    import numpy as np

    spans = [found.span() for found in _PIECE.finditer(text.shown) if _is_signed(text.shown, found)]
    if not spans:
        return []
    cuts = np.searchsorted(text.offsets, np.array(spans)).tolist()
    return [
        _Piece(*span, *cut, text.shown[slice(*span)].strip(".)").isdigit())
        for span, cut in zip(spans, cuts, strict=True)
        if cut[1] > cut[0] and not _is_in_place(placed, *cut)
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
    if piece[0] == "o":
        return not shown[shown.rfind("\n", 0, piece.start()) + 1 : piece.start()].strip() and after[:1].isspace()
    return bool(
        _MARK.match(shown, piece.start())
        or _FIELD.match(piece[0])
        or _ONLY[0].search(before)
        or _ONLY[1].match(after)
    )
