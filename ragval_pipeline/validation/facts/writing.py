"""Markers among the words of a text, added by sources and converters: signs give candidates, the page decides.

An address after the linked text, the number of an item, an anchor, a list of attributes: if the page has the text
before such a piece directly followed by the text after it, it does not show the piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from ragval_pipeline.lazy import np
from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.spans import Span, in_one

#: Tokens with a letter or digit, separated by whitespace, quotes, brackets and bars.
_BORDERS = r"\s\"'`\[\](){}<>|\u27e8\u27e9"
_PIECE = re.compile(rf"[^{_BORDERS}\w]*\w[^{_BORDERS}]*")
#: Characters of paths, ids and attributes that words do not have.
_NAME = re.compile(r"[/#=\\]|[.:][^\W\d]")
#: Characters before and after a name in brackets, or before a linked text in brackets.
_OPENED, _CLOSED = re.compile(r"[\[({<|][\"'`]?\Z"), re.compile(r"[\"'`]?[\])}>|\[]")
#: Within these any word is a name: anchors, attributes.
_OPENED_TWICE = re.compile(r"(?:\[\[|<<|\{)\Z")
#: A field, a command; an address after the linked text.
_FIELD = re.compile(r":[\w-]+:|(?:#\+|\\|#(?=\w+\())\w|:(?=\w+:/)")
#: The number of an item, even if line breaks became spaces, or of a link; markers of text browsers for code and
#: buttons.
_MARK = re.compile(
    r"(?<!\S)\d{1,4}(?:[.)](?=\s|\Z)|\Z)|(?<=[\[\u27e8])(?:\d{1,4}|code)(?=[\]\u27e9])|(?<=\()BUTTON(?=\))"
)
#: The bullet or letter before an item, the number of a line of code.
_AT_LINE = re.compile(r"o(?=[ \t])|(?:[a-z]|[ivxl]{2,5})[.)](?=\s)|\d{1,4}(?=[ \t]{2})")
_IN_SQUARE = ("[]", "\u27e8\u27e9")
#: Maximum adjacent pieces taken together; following pieces that may also be markers.
_TOGETHER, _AHEAD = 8, 5  # work
#: Positions of adjacent letters examined per piece, and characters there.
_PLACES, _NEAR = 64, 200  # work


class _Piece(NamedTuple):
    """What may be writing, from one character to before another, and its letters; a mark comes before an item."""

    start: int
    end: int
    first: int
    last: int
    is_mark: bool
    #: Whether the page has it in one with a letter on one side of it, which may be by chance.
    is_met: bool = False


def without_writing(text: FoldedText, spans: Sequence[Span], page: Searched) -> FoldedText:
    """The text with pieces that the page skips blanked out, so that every other character keeps its position.

    At the text's beginning and end, and for bracketed pieces, the letters on one side decide, unless the page itself
    shows a piece of that kind there.
    """
    pieces = [piece for found in _pieces(text) if (piece := _unless_shown(text, spans, found))]
    shown, shown_from = list[str](), 0
    before, at, number = "", 0, 0
    while number < len(pieces):
        own = pieces[number]
        before = (before + text.letters[at : own.first])[-SIZE:]
        last = _last_of_writing(text, pieces, number, before, page)
        if last is None:
            at, number = own.first, number + 1
        else:
            shown += text.shown[shown_from : own.start], " " * (pieces[last].end - own.start)
            shown_from, at, number = pieces[last].end, pieces[last].last, last + 1
    return FoldedText.of("".join((*shown, text.shown[shown_from:]))) if shown else text


def _pieces(text: FoldedText) -> Iterator[_Piece]:
    """The candidate markers of a text."""
    spans = [found.span() for found in _PIECE.finditer(text.shown) if _may_be_writing(text.shown, found)]
    cuts = np.searchsorted(text.offsets, np.array(spans, dtype=np.int64).reshape(-1, 2)).tolist()
    for (start, end), (first, last) in zip(spans, cuts, strict=True):
        if last > first:
            yield _Piece(start, end, first, last, _is_mark(text.shown, start, end))


def _may_be_writing(shown: str, piece: re.Match[str]) -> bool:
    """Whether a piece looks like a marker, by its content and context, not by the page."""
    start, end = piece.span()
    before, after = shown[max(0, start - 2) : start], shown[end : end + 2]
    if _NAME.search(piece[0]) and (_OPENED.search(before) or _CLOSED.match(after)):
        return True
    if "/" in piece[0] and (before[-1:] == "]" or (before[-1:] in ("", "\n") and after[:1] in ("", "\n"))):
        return True
    if _is_at_line(shown, start):
        return True
    return bool(_OPENED_TWICE.search(before) or _MARK.match(shown, start) or _FIELD.match(shown, start))


def _is_at_line(shown: str, start: int) -> bool:
    return bool(_AT_LINE.match(shown, start)) and not shown[shown.rfind("\n", 0, start) + 1 : start].strip()


def _is_mark(shown: str, start: int, end: int) -> bool:
    """Whether a piece is a number, or the mark before an item in its line."""
    return shown[start:end].rstrip(".)").isdigit() or _is_at_line(shown, start)


def _unless_shown(text: FoldedText, spans: Sequence[Span], piece: _Piece) -> _Piece | None:
    """A piece, unless the page has it together with the text on both sides: elsewhere some letters match by chance."""
    # The address of a link follows its text and may repeat it: for a long piece, the text before it is enough.
    beyond = 0 if piece.last - piece.first >= SIZE // 2 else SIZE // 2
    first, last = max(0, piece.first - SIZE // 2), min(piece.last + beyond, len(text.letters))
    if in_one(spans, first, last):
        return None
    is_met = in_one(spans, max(0, piece.first - 1), piece.last) or in_one(spans, piece.first, piece.last + 1)
    return piece._replace(is_met=is_met)


def _last_of_writing(
    text: FoldedText, pieces: Sequence[_Piece], number: int, before: str, page: Searched
) -> int | None:
    """The last of the adjacent pieces from a given one that together are markers; None if it is not one."""
    upto = number
    while upto + 1 < len(pieces) and upto - number < _TOGETHER and pieces[upto + 1].first == pieces[upto].last:
        upto += 1
    # Fewer letters than an n-gram have too many positions to examine.
    places = page.first_places(before, _PLACES) if len(before) == SIZE else None
    for last in range(upto, number - 1, -1):
        rests = dict.fromkeys(_rests(text.letters, pieces, last))
        if before and any(_has_both(page, before, places, rest) for rest in rests if rest):
            return last
        own = pieces[number : last + 1]
        if not any(piece.is_met for piece in own) and _is_writing_on_one_side(text, own, before, tuple(rests), page):
            return last
    return None


def _rests(letters: str, pieces: Sequence[_Piece], last: int) -> Iterator[str]:
    """The letters after a piece, with and without each of the following pieces: with all first, without any last."""
    ways = [("", pieces[last].last)]
    for number in range(last + 1, min(last + 1 + _AHEAD, len(pieces) + 1)):
        upto = pieces[number].first if number < len(pieces) else len(letters)
        ways = [(rest + letters[at:upto], upto) for rest, at in ways]
        yield from (rest[:SIZE] for rest, _ in ways if len(rest) >= SIZE)
        ways = [(rest, at) for rest, at in ways if len(rest) < SIZE]
        if number < len(pieces):
            ways += [(rest, pieces[number].last) for rest, _ in ways]
    yield from (rest for rest, _ in ways)


def _has_both(page: Searched, before: str, places: Sequence[int] | None, rest: str) -> bool:
    """Whether the page has some letters and then, at once, so many of the others that both are as long as a run."""
    size = max(SIZE - len(before), min(len(rest), SIZE // 2))
    if len(rest) < size:
        return False
    if places is None:
        return page.place(before + rest[:size]) is not None
    return any(page.letters.startswith(rest[:size], place + SIZE) for place in places)


def _is_writing_on_one_side(
    text: FoldedText, own: Sequence[_Piece], before: str, rests: Sequence[str], page: Searched
) -> bool:
    """Whether the letters on one side say so: at the text's ends, and of what brackets set apart."""
    is_mark = all(piece.is_mark for piece in own)
    is_sure = not before or all(_is_set_apart(text.shown, piece) for piece in own)
    if is_sure and any(_begins(page, rest, is_mark) for rest in {rests[0], rests[-1]}):
        return True
    is_at_end = bool(before) and not any(rests)
    return is_at_end and _ends(page, before, is_mark, in_line=_is_in_brackets(text.shown, own[-1]))


def _begins(page: Searched, rest: str, is_mark: bool) -> bool:
    """Whether some letters begin a word of the page that has no piece of that kind before it."""
    return len(rest) == SIZE and any(
        bool(page.folded.word_starts[place]) and not _has_own(page, place, is_mark, behind=False)
        for place in page.first_places(rest, _PLACES)
    )


def _ends(page: Searched, before: str, is_mark: bool, *, in_line: bool) -> bool:
    """Whether some letters end a line of the page, or stand within one, that has no piece of that kind behind them."""
    return len(before) == SIZE and any(
        (in_line or place + SIZE == len(page.letters) or page.begins_line(place + SIZE))
        and not _has_own(page, place + SIZE, is_mark, behind=True)
        for place in page.first_places(before, _PLACES)
    )


def _has_own(page: Searched, letter: int, is_mark: bool, *, behind: bool) -> bool:
    """Whether the page shows a piece itself before a letter, or from it on."""
    shown, offsets = page.folded.shown, page.folded.offsets
    if behind:
        at = int(offsets[letter - 1]) + 1
        found = list(islice(_PIECE.finditer(shown, at, at + _NEAR), 1))
    else:
        at = int(offsets[letter])
        found = list(_PIECE.finditer(shown, max(0, at - _NEAR), at))[-1:]
    if not found or not is_mark:
        return any(_NAME.search(piece[0]) or _may_be_writing(shown, piece) for piece in found)
    # The marks of lines and items are in the line.
    between = shown[at : found[0].start()] if behind else shown[found[0].end() : at]
    return _is_mark(shown, *found[0].span()) and "\n" not in between


def _is_set_apart(shown: str, piece: _Piece) -> bool:
    """Whether a piece is in square brackets, or an address in round ones."""
    before, after = shown[max(0, piece.start - 1) : piece.start], shown[piece.end : piece.end + 1]
    is_place = "/" in shown[piece.start : piece.end] or "#" in shown[piece.start : piece.end]
    return before + after in (_IN_SQUARE if not is_place else (*_IN_SQUARE, "()"))


def _is_in_brackets(shown: str, piece: _Piece) -> bool:
    """Whether a piece is in brackets, except those of a tag, or of an address that is shown."""
    before, after = shown[max(0, piece.start - 2) : piece.start], shown[piece.end : piece.end + 2]
    return not before.endswith("<") and bool(_OPENED.search(before) or _CLOSED.match(after))
