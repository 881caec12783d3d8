"""Cutting long texts for the static tokenizer, so that memory does not grow with the longest text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

PIECE_CHARS = 16_384
SLICE_CHARS = 262_144
SLICE_TEXTS = 512


def pieces_of(text: str, limit: int = PIECE_CHARS) -> Iterator[str]:
    """Pieces of ``text`` of at most ``limit`` characters; none of an empty text.

    A stretch of ``limit`` characters without such a blank is cut where it ends, which changes a token or two there.
    """
    start = 0
    while len(text) - start > limit:
        cut = _last_cut(text, start, start + limit)
        yield text[start : cut or start + limit]
        start = cut + 1 if cut else start + limit
    if start < len(text):
        yield text[start:]


def slices_of(texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """Pieces of all texts with the index of their text, in slices small enough to be tokenised at once."""
    held: list[tuple[int, str]] = []
    chars = 0
    for index, text in enumerate(texts):
        for piece in pieces_of(text):
            if held and (chars + len(piece) > SLICE_CHARS or len(held) == SLICE_TEXTS):
                yield held
                held, chars = [], 0
            held.append((index, piece))
            chars += len(piece)
    if held:
        yield held


def _last_cut(text: str, start: int, stop: int) -> int:
    """Index of the last blank in ``text[start:stop]`` that may be cut at; 0 when there is none."""
    at = text.rfind(" ", start + 1, stop)
    while at > 0 and not (text[at - 1].isalnum() and text[at + 1].isalnum()):
        at = text.rfind(" ", start + 1, at)
    return max(at, 0)
