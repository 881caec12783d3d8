"""A repair: what mending the cause of a finding would delete, write anew, or set; and several at the same time."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

#: Texts that a repair would write, and those that are stored in their place.
Compared = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Chunk:
    """A point as a repair writes it.

    Attributes:
        id: Its id.
        text: Its text.
        values: Payload values by canonical name.
        header: What the ingestion embeds in front of the text, as the stored points show.
        is_new: Whether it takes the place of no stored point.
        is_rewritten: Whether its text is another than the stored one.
        is_sure: Whether the chunks beside it show that the ingestion would write it as it is.
    """

    id: str
    text: str
    values: Mapping[str, Any]
    header: str = ""
    is_new: bool = False
    is_rewritten: bool = True
    is_sure: bool = False

    @property
    def embedded(self) -> str:
        """What its vector is made from."""
        return self.header + self.text


@dataclass(frozen=True)
class Repair:
    """What the repair of one finding does.

    Attributes:
        code: Of the cause.
        scope: Of the cause.
        removed: Points that go.
        chunks: Points that are written; one with the id of a stored point takes its place.
        values: Payload values that are set, by point and canonical name; none where the right one is not known.
        paths: Canonical names that are read from another payload path.
        thresholds: Similarities that are asked for now, with the one that is suggested in place of each.
        dropped: Queries whose expectation is dead, with the conditions that read it.
        exact: Whether searches are made exact.
        is_too_large: Whether it concerns more points than are held in memory: then it holds nothing.
        compared: Where the texts of its chunks are not surely what an ingestion would write: texts that are right, each
            rewritten the same way and as it is stored; none: nothing to compare with. None where they are sure.
    """

    code: str
    scope: str | None = None
    removed: frozenset[str] = frozenset()
    chunks: tuple[Chunk, ...] = ()
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[float, float] = field(default_factory=dict)
    dropped: Mapping[str, frozenset[str]] = field(default_factory=dict)
    exact: bool = False
    is_too_large: bool = False
    compared: tuple[Compared, ...] | None = None

    @property
    def replaced(self) -> frozenset[str]:
        """Stored points whose place in a ranking is not what it was."""
        return self.removed | {chunk.id for chunk in self.chunks}

    @property
    def unknown(self) -> frozenset[str]:
        """Stored points of which it is not known what a repair would write."""
        return frozenset(point for point, values in self.values.items() if not values)

    @property
    def texts(self) -> dict[str, None]:
        """What has to be embedded to try it."""
        compared = (text for pieces, stored in self.compared or () for text in (*pieces, *stored))
        return dict.fromkeys([*(chunk.embedded for chunk in self.chunks), *compared])

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        settings = self.paths or self.thresholds or self.dropped or self.exact
        return not (self.replaced or self.values or settings or self.is_too_large)


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
