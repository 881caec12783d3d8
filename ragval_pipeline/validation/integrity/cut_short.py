"""Short chunks in a section of which content stands in no chunk: they once held it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ragval_pipeline.validation.facts.align import Alignment
from ragval_pipeline.validation.facts.captured import HeldBlock

#: Letters of the longest chunk that is looked at.
LONGEST = 200


def cut_chunks(chunks: Mapping[str, Alignment], held: Sequence[HeldBlock]) -> list[str]:
    """Ids of the chunks in whose section of the page a block is lost.

    A chunk may have been cut to its beginning or to its end, within a block or between two. What is lost under another
    heading was never its.

    Args:
        chunks: The page's chunks, aligned with it, by point id.
        held: The blocks of the page's content, in their order.
    """
    lost = {number for number, entry in enumerate(held) if entry.lost}
    if not lost:
        return []
    starts = [entry.start for entry in held]
    return sorted(
        point_id
        for point_id, chunk in chunks.items()
        if 0 < chunk.letters <= LONGEST
        for span in chunk.spans[:1]
        if span.place >= 0 and not lost.isdisjoint(_section(span.place, span.beyond - 1, held, starts))
    )


def _section(first: int, last: int, held: Sequence[HeldBlock], starts: Sequence[int]) -> range:
    """The blocks that letters stand in, and those before and after up to the next heading."""
    begin, end = (max(0, bisect_right(starts, letter) - 1) for letter in (first, last))
    while begin and held[begin].block.kind != "heading":
        begin -= 1
    while end + 1 < len(held) and held[end + 1].block.kind != "heading":
        end += 1
    return range(begin, end + 1)
