"""Chunks whose index does not follow the order of their page: ``chunk.order_shuffled``.

Neighbours that a reader or a prompt puts together by index are then no neighbours. Where chunks overlap they still
begin one after the other, so a chunk that begins before one with a smaller index is out of order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.facts.edges import ANCHOR
from ragval_pipeline.validation.facts.rows import ChunkFacts, PageFacts

#: Share of a chunk that must stand on the page in one, so that its place is no chance.
IN_ONE = 0.5


def order_findings(chunks: Mapping[str, Sequence[ChunkFacts]], read: Mapping[str, PageFacts]) -> list[Finding]:
    """``chunk.order_shuffled``: pages of which some chunk stands before one with a smaller index.

    Args:
        chunks: The chunks of each page that was read.
        read: The pages.
    """
    subjects = []
    for key, own in chunks.items():
        indexed = [
            (chunk.chunk_index, _place(chunk)) for chunk in own if (chunk.chunk_index or 0) >= 0 and _is_placed(chunk)
        ]
        placed = sorted((index, place) for index, place in indexed if index is not None)
        if key not in read or len({index for index, _ in placed}) < len(placed):
            continue  # of two chunks with one index neither is known to be the page's
        # Of copies neither is known to be the one that is out of order.
        copies = Counter(place for _, place in placed)
        places = [place for _, place in placed if copies[place] == 1]
        moved = len(places) - _longest_rising(places)
        if moved:
            details = {"out_of_order": moved, "chunks": len(places)}
            subjects.append(Subject(name=read[key].url, page=key, details=details))
    return [make_finding("chunk.order_shuffled", subjects)] if subjects else []


def _is_placed(chunk: ChunkFacts) -> bool:
    return chunk.longest >= max(ANCHOR, IN_ONE * chunk.letters)


def _place(chunk: ChunkFacts) -> int:
    """Where the longest span of a chunk would put its first letter."""
    spans = zip(chunk.lengths, chunk.places, chunk.starts, strict=True)
    _, place, start = max((span for span in spans if span[1] >= 0), key=lambda span: span[0])
    return place - start


def _longest_rising(places: Sequence[int]) -> int:
    """Length of the longest rising subsequence."""
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails)
