"""Repairs that are made at the same time, and the fewest of them that a query needs."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from ragval_pipeline.validation.repair.repair import Chunk, Repair

Cause = TypeVar("Cause")


def joined(repairs: Sequence[Repair]) -> Repair:
    """All of the repairs made at the same time.

    What one of them deletes no other writes. Of texts for one point the first that is rewritten stands, and one that is
    embedded as it is stored only where no repair rewrites it.
    """
    removed = frozenset[str]().union(*(repair.removed for repair in repairs))
    values: dict[str, dict[str, object]] = {}
    dropped: dict[str, frozenset[str]] = {}
    for repair in repairs:
        for point, known in repair.values.items():
            values.setdefault(point, {}).update(known)
        for query, conditions in repair.dropped.items():
            dropped[query] = dropped.get(query, frozenset()) | conditions
    chunks: dict[tuple[str, str], Chunk] = {}
    for chunk in chain.from_iterable(repair.chunks for repair in repairs):
        # Of one page different chunks may be added, each by the repair of what else it lacks.
        key = (chunk.id, chunk.text if chunk.is_new else "")
        if chunk.id not in removed and (key not in chunks or (chunk.is_rewritten and not chunks[key].is_rewritten)):
            chunks[key] = replace(chunk, values={**chunk.values, **values.get(chunk.id, {})})
    return Repair(
        code=" and ".join(dict.fromkeys(repair.code for repair in repairs)),
        removed=removed,
        chunks=tuple(chunks.values()),
        values=values,
        paths=ChainMap(*(dict(repair.paths) for repair in repairs)),
        thresholds=ChainMap(*(dict(repair.thresholds) for repair in repairs)),
        dropped=dropped,
        exact=any(repair.exact for repair in repairs),
    )


def fewest(causes: Sequence[Cause], clears: Callable[[Sequence[Cause]], bool]) -> list[Cause]:
    """Of causes that clear something together those that are needed for it; none where they don't.

    Args:
        causes: The causes; those that come last are left out first.
        clears: Whether the repairs of some of them, at the same time, clear it.
    """
    needed = list(causes)
    if not clears(needed):
        return []
    for cause in reversed(causes):
        rest = [other for other in needed if other is not cause]
        if clears(rest):
            needed = rest
    return needed
