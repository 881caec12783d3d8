"""The part of a text that shows why it was found: an excerpt with the expected words marked.

What lives here: finding words the way queries are judged, and cutting around them. What does not: markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ragval_pipeline.reporting.text import one_line, shorten
from ragval_pipeline.validation.retrieval.texts import fold_text, word_pattern

#: Characters that are shown before the first expected word when it lies too far down.
_BEFORE = 60


@dataclass(frozen=True)
class Piece:
    """A stretch of an excerpt; ``marked``: it is an expected word."""

    text: str
    marked: bool = False


def excerpt(text: str, words: Sequence[str], length: int) -> list[Piece]:
    """About ``length`` characters of ``text`` on one line, from its beginning or from just before the first word.

    Args:
        text: Any text.
        words: Expected words; found with case and accents folded, as whole words.
        length: Characters at most, ellipses aside.
    """
    line = one_line(text)
    spans = _spans(line, words)
    start = _start(line, spans, length)
    shown = shorten(line[start:], length)
    pieces = [Piece("…")] if start else []
    # The ellipsis at the end is no part of the line.
    return pieces + _pieces(
        shown, [(first - start, last - start) for first, last in spans], len(shown.removesuffix("…"))
    )


def _start(line: str, spans: Sequence[tuple[int, int]], length: int) -> int:
    if len(line) <= length or not spans or spans[0][1] < length:
        return 0
    blank = line.find(" ", max(spans[0][0] - _BEFORE, 0), spans[0][0])
    return blank + 1 if blank >= 0 else spans[0][0]


def _pieces(shown: str, spans: Sequence[tuple[int, int]], length: int) -> list[Piece]:
    pieces, at = [], 0
    for first, last in spans:
        if last > length:
            break
        pieces += [Piece(shown[at:first]), Piece(shown[first:last], marked=True)]
        at = last
    return [piece for piece in [*pieces, Piece(shown[at:])] if piece.text]


def _spans(line: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words stand: first and past the last character, in order, none within another."""
    patterns = [pattern for word in words if (pattern := word_pattern(word)) is not None]
    if not patterns:
        return []
    folded, places = _folded(line)
    found = sorted((match.start(), -match.end()) for pattern in patterns for match in _matches(pattern, folded))
    spans: list[tuple[int, int]] = []
    for first, minus_last in found:
        span = places[first], places[-minus_last - 1] + 1
        if not spans or span[0] >= spans[-1][1]:
            spans.append(span)
    return spans


def _matches(pattern: re.Pattern[str], folded: str) -> list[re.Match[str]]:
    return [match for match in pattern.finditer(folded) if match.end() > match.start()]


def _folded(line: str) -> tuple[str, Sequence[int]]:
    """The line folded character by character, and for each folded character the place that it comes from."""
    if line.isascii():
        return line.lower(), range(len(line))
    parts = [_fold_character(character) for character in line]
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


@cache
def _fold_character(character: str) -> str:
    return " " if character.isspace() else fold_text(character)
