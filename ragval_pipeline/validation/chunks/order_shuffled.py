"""Chunks whose index does not follow the order of their page: ``chunk.order_shuffled``.

Neighbours that a reader or a prompt puts together by index are then no neighbours. Where chunks overlap they still
begin one after the other, so a chunk that begins before one with a smaller index is out of order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, MOST


@detector("chunk.order_shuffled", needs=ChunkEvidence)
def find_shuffled(evidence: ChunkEvidence) -> Iterator[Subject]:
    """Pages of which some chunk stands before one with a smaller index."""
    for key, own in evidence.on_pages(evidence.layout.doubtful):
        indexed = [
            (chunk.chunk_index, _place(chunk)) for chunk in own if (chunk.chunk_index or 0) >= 0 and _is_placed(chunk)
        ]
        placed = sorted((index, place) for index, place in indexed if index is not None)
        if key not in evidence.read or len({index for index, _ in placed}) < len(placed):
            continue  # of two chunks with one index neither is known to be the page's
        # Of copies neither is known to be the one that is out of order.
        copies = Counter(place for _, place in placed)
        places = [place for _, place in placed if copies[place] == 1]
        moved = len(places) - _longest_rising(places)
        if moved:
            details = {"out_of_order": moved, "chunks": len(places)}
            yield Subject(name=evidence.read[key], page=key, details=details)


def _is_placed(chunk: ChunkFacts) -> bool:
    """Whether enough of a chunk stands on the page in one, so that its place is no chance."""
    return chunk.longest >= max(ANCHOR_LETTERS, MOST * chunk.letters) and not chunk.repeated


def _place(chunk: ChunkFacts) -> int:
    """Where the longest span of a chunk would put its first letter, but for title and headings that are put before."""
    spans = list(zip(chunk.lengths, chunk.places, chunk.starts, strict=True))
    _, place, start = max((span for span in spans if span[1] >= 0), key=lambda span: span[0])
    stored = sum(length for length, at, begin in spans if at < 0 and begin < start)
    return place - (start - stored)


def _longest_rising(places: Sequence[int]) -> int:
    """Length of the longest rising subsequence."""
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails)
