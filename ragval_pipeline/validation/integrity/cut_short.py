"""Short chunks in a section of which content stands in no chunk: they once held it.

What lives here: telling a chunk that was cut from one that is short because its section is. What does not: what is lost
(``content``), which chunks are too short (``chunks/too_small``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from ragval_pipeline.validation.integrity.content import HeldBlock
from ragval_pipeline.validation.integrity.folding import fold

#: Letters of the longest chunk that is looked at.
LONGEST = 200
#: Letters at either end of a chunk that tell where it stands, when an ingestion put something around it.
ENDING = 12


def cut_chunks(texts: Mapping[str, str], held: Sequence[HeldBlock]) -> list[str]:
    """Ids of the chunks in whose section of the page a block is lost.

    A chunk may have been cut to its beginning or to its end, within a block or between two. What is lost under another
    heading was never its.

    Args:
        texts: Text of each of the page's chunks, by point id.
        held: The blocks of the page's content, in their order.
    """
    lost = {number for number, entry in enumerate(held) if entry.lost}
    short = {point_id: letters for point_id, text in texts.items() if 0 < len(letters := fold(text)) <= LONGEST}
    if not lost or not short:
        return []
    blocks = [fold(entry.block.text) for entry in held]
    page, ends = "".join(blocks), list(accumulate(map(len, blocks)))
    return sorted(
        point_id
        for point_id, letters in short.items()
        if any(not lost.isdisjoint(_section(place, held, ends)) for place in _places(letters, page))
    )


def _places(letters: str, page: str) -> Iterator[tuple[int, int]]:
    """Where on the page the letters may stand: first and last letter; those of one end when only that is there."""
    wanted = next((part for part in (letters, letters[-ENDING:], letters[:ENDING]) if part in page), None)
    at = -1 if wanted is None else page.find(wanted)
    while wanted and at >= 0:
        yield at, at + len(wanted) - 1
        at = page.find(wanted, at + 1)


def _section(place: tuple[int, int], held: Sequence[HeldBlock], ends: Sequence[int]) -> range:
    """The blocks that letters stand in, and those before and after up to the next heading.

    Not only the next ones: rows and items are short enough to be met elsewhere on the page, and count as held.
    """
    first, last = (bisect_right(ends, letter) for letter in place)
    while first and held[first].block.kind != "heading":
        first -= 1
    while last + 1 < len(held) and held[last + 1].block.kind != "heading":
        last += 1
    return range(first, last + 1)
