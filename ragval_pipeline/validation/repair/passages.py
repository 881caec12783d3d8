"""Where a chunk stands on its page, and what of the page no chunk holds, read off the letters that both share."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from itertools import pairwise

from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.validation.thresholds import MOST, PASSAGE_LETTERS

#: Letters of a seed, about two words: chance repeats few of them on a page.
SEED = 12  # work


def own_passage(text: str, page: FoldedText) -> str | None:
    """The piece of the page that a chunk was made of, as the page has it; None when it is not on the page.

    Args:
        text: The chunk: words may be changed, joined or damaged.
        page: The page's text.
    """
    letters = fold(text)
    starts = _starts(letters, page.letters)
    if len(starts) < MOST * max(1, (len(letters) - SEED) // (SEED // 2) + 1):
        return None
    begin = int(statistics.median(starts))
    return page.between(max(0, begin), min(len(page.letters), begin + len(letters)))


def _starts(letters: str, page: str) -> list[int]:
    """Where the chunk begins on the page, as each of its seeds that stand together there has it."""
    if len(letters) < SEED:
        place = page.find(letters) if letters else -1
        return [] if place < 0 else [place]
    found = []
    for at in range(0, len(letters) - SEED + 1, SEED // 2):
        place = page.find(letters[at : at + SEED])
        while place >= 0:
            found.append(place - at)
            place = page.find(letters[at : at + SEED], place + 1)
    # Words that came or went move all that follows them by a few letters.
    reach = max(SEED, len(letters) // 2)
    groups: dict[int, list[int]] = {}
    for start in found:
        for number in (start // reach, start // reach + 1):
            groups.setdefault(number, []).append(start)
    return max(groups.values(), key=len, default=[])


def missing_passages(page: FoldedText, texts: Iterable[str]) -> list[str]:
    """The pieces of a page of at least ``PASSAGE_LETTERS`` letters that none of the texts holds, in page order."""
    import numpy as np

    size = len(page.letters)
    places: dict[str, list[int]] = {}
    for at in range(size - SEED + 1):
        places.setdefault(page.letters[at : at + SEED], []).append(at)
    held = np.zeros(size + 2, dtype=np.int8)
    for text in texts:
        letters = fold(text)
        for at in range(len(letters) - SEED + 1):
            for place in places.get(letters[at : at + SEED], ()):
                held[place + 1 : place + SEED + 1] = 1
    held[0] = held[-1] = 1
    edges = np.flatnonzero(held == 1)
    return [page.between(int(one), int(two) - 1) for one, two in pairwise(edges) if two - one - 1 >= PASSAGE_LETTERS]


def in_chunks(passage: str, characters: int) -> list[str]:
    """A passage in equal pieces of about so many characters, cut between words where it has blanks."""
    number = max(1, round(len(passage) / characters))
    length = len(passage) / number
    words = passage.split()
    if max(map(len, words), default=0) > characters:  # a script without blanks
        edges = [round(piece * length) for piece in range(number + 1)]
        return [passage[start:end] for start, end in pairwise(edges)]
    pieces: list[list[str]] = [[] for _ in range(number)]
    at = 0
    for word in words:
        pieces[min(number - 1, int(at / length))].append(word)
        at += len(word) + 1
    return [" ".join(piece) for piece in pieces if piece]
