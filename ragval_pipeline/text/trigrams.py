"""Whether one text stands in another, by the word trigrams that both have."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_SIZE = 3


def trigrams(words: Sequence[str]) -> set[tuple[str, ...]]:
    """All runs of three words; of a shorter text the whole of it."""
    size = min(_SIZE, len(words))
    return {tuple(words[start : start + size]) for start in range(len(words) - size + 1)} if size else set()


def share_in(own: Collection[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    """Fraction of the trigrams ``own`` that are in ``other``; 0 without any."""
    return sum(trigram in other for trigram in own) / len(own) if own else 0.0
