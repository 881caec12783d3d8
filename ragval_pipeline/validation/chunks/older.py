"""Chunks that are an older version of what is stored beside them: their page was edited, and its old points stayed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.validation.facts.places import Place, is_within, united
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.facts.store import FactRows
from ragval_pipeline.validation.thresholds import VERIFIED_FROM


def present_versions(
    facts: FactRows, drifted: Mapping[str, ChunkFacts], differing: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """The points with the present version of some chunks that differ from their page, by point id.

    ``differing`` are the points with any difference. A chunk without such points is left out.
    """
    pages: dict[str, list[ChunkFacts]] = {}
    for chunk in drifted.values():
        pages.setdefault(chunk.page_key or "", []).append(chunk)
    if not pages:
        return {}
    unchanged: dict[str, list[ChunkFacts]] = {}
    for chunk in facts.chunks(one_of("page_key", pages)):
        if chunk.compared and chunk.point_id not in differing:
            unchanged.setdefault(chunk.page_key or "", []).append(chunk)
    older_of = {
        old.point_id: tuple(sorted(new.point_id for new in _versions(old, unchanged.get(key, ()))))
        for key, chunks in pages.items()
        for old in chunks
    }
    return {name: versions for name, versions in older_of.items() if versions}


def _versions(old: ChunkFacts, others: Iterable[ChunkFacts]) -> Iterator[ChunkFacts]:
    """The unchanged chunks with the same passage as an old one.

    They have nearly all of its part of the page, and in one piece the places where the two differ. With numbers, the
    next window that slides over the page has another one, and a version of the same chunk has not.
    """
    if old.stretch is None or old.repeated:
        return
    begin, end = old.stretch
    places = list(_differences(old))
    for new in others:
        is_numbered = old.chunk_index is not None and new.chunk_index is not None
        if new.depth != old.depth or (is_numbered and old.chunk_index != new.chunk_index):
            continue
        spans = united(new.spans)
        covered = sum(min(last, end) - max(first, begin) for first, last in spans if first < end and last > begin)
        if covered >= VERIFIED_FROM * (end - begin) and all(is_within(place, spans) for place in places):
            yield new


def _differences(chunk: ChunkFacts) -> Iterator[Place]:
    """The places of the page at which a chunk differs from it, with a letter on either side."""
    parts = sorted(chunk.parts, key=lambda part: part[1])
    for (start, place, length), (next_start, next_place, _) in pairwise(parts):
        if start + length != next_start or place + length != next_place:
            yield place + length - 1, next_place + 1
