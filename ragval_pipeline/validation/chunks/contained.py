"""Chunks that lie whole within another chunk of their page, of the same ingestion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.thresholds import PASSAGE_LETTERS, VERIFIED_FROM

Span = tuple[int, int]


def contained(evidence: ChunkEvidence) -> Iterator[tuple[ChunkFacts, ChunkFacts]]:
    """Each such chunk, with the smallest chunk that has all of it.

    Pages that several ingestions stored have many such chunks, and are reported as that. Nor are chunks within their
    parents any, or what a splitter with overlap makes: a chunk no longer than the overlap that begins or ends with the
    chunk beside it, such as the rest of a section, or a short sentence with which the next chunk begins again.
    """
    pages = evidence.layout.nested - evidence.layout.twice.keys() | evidence.numbered_through
    parts = {} if evidence.partition is None else evidence.partition.values
    overlap = evidence.layout.overlap
    for _, chunks in evidence.on_pages(pages):
        layers: dict[object, list[ChunkFacts]] = {}
        for chunk in chunks:
            layers.setdefault((chunk.depth, parts.get(chunk.point_id)), []).append(chunk)
        for own in layers.values():
            yield from _within(own, overlap)


def _within(chunks: Sequence[ChunkFacts], overlap: float) -> Iterator[tuple[ChunkFacts, ChunkFacts]]:
    placed = [(chunk, span) for chunk in chunks if (span := _piece(chunk)) is not None]
    for chunk, (begin, end) in placed:
        if chunk.letters < PASSAGE_LETTERS or chunk.repeated or chunk.share < VERIFIED_FROM:
            continue
        holders = [
            (other_end - other_begin, other, min(begin - other_begin, other_end - end))
            for other, (other_begin, other_end) in placed
            if other is not chunk and other_begin <= begin and end <= other_end and other.letters > chunk.letters
        ]
        is_rest = chunk.letters <= overlap and any(beyond < PASSAGE_LETTERS for _, _, beyond in holders)
        if holders and not is_rest:
            yield chunk, min(holders, key=lambda entry: (entry[0], entry[1].point_id))[1]


def _piece(chunk: ChunkFacts) -> Span | None:
    """Where a chunk is on its page, if it is there in one piece, as the page has it."""
    if chunk.stretch is None:
        return None
    begin, end = chunk.stretch
    held = sum(length for _, place, length in chunk.parts if begin <= place < end)
    return (begin, end) if held >= VERIFIED_FROM * max(end - begin, 1) else None
