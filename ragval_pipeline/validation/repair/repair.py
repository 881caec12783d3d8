"""A repair: what fixing the cause of a finding would delete, rewrite, or set; and combinations of repairs."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

#: Fields that are guessed if no stored point shows them.
GUESSED = ("module", "chapter")
#: Hits that may be of other versions or languages before the first one of the right one.
_OTHER_EDITIONS = 200  # work
#: Texts that a repair would write, and the stored ones.
Compared = tuple[tuple[str, ...], tuple[str, ...]]


class SearchMode(NamedTuple):
    """How queries are searched for, otherwise than in the run.

    Attributes:
        exact: Whether searches are exact.
        as_queries: Whether queries are embedded with the input type for queries.
    """

    exact: bool = False
    as_queries: bool = False


class Guess(str):
    """A module or chapter that no stored point shows: its page's address suggests it."""

    __slots__ = ()


@dataclass(frozen=True)
class Chunk:
    """A point as written by a repair.

    Attributes:
        id: Its id.
        text: Its text.
        values: Payload values by canonical name.
        header: What the ingestion embeds before the text, from stored points.
        is_new: Whether it replaces no stored point.
        is_rewritten: Whether its text differs from the stored one.
        is_sure: Whether neighbouring chunks show that the ingestion would write exactly this.
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
        """The embedded text."""
        return self.header + self.text


@dataclass(frozen=True)
class Repair:
    """The repair of one finding.

    Attributes:
        code: Of the cause.
        scope: Of the cause.
        removed: Points to delete.
        chunks: Points to write; one with the id of a stored point replaces it.
        unread: Pages to ingest whose text is not known.
        values: Payload values to set, by point and canonical name; none if the right one is unknown.
        paths: Canonical names to read from another payload path.
        thresholds: Current thresholds, with the suggested ones.
        dropped: Queries with a dead expectation, with its conditions.
        search_mode: How to search.
        is_too_large: Whether it affects too many points for memory: then it is empty.
        editions: Pages by their version or language and the folder that they share with others of theirs: a search
            by the right filter leaves out the others of the page that a query expects.
        compared: If the texts of its chunks are uncertain: correct texts, each rewritten the same way and as stored;
        empty: nothing to compare with. None if they are certain.
    """

    code: str
    scope: str | None = None
    removed: frozenset[str] = frozenset()
    chunks: tuple[Chunk, ...] = ()
    unread: frozenset[str] = frozenset()
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[float, float] = field(default_factory=dict)
    dropped: Mapping[str, frozenset[str]] = field(default_factory=dict)
    search_mode: SearchMode = field(default_factory=SearchMode)
    is_too_large: bool = False
    editions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compared: tuple[Compared, ...] | None = None

    @property
    def replaced(self) -> frozenset[str]:
        """Stored points whose rank may change."""
        return self.removed | {chunk.id for chunk in self.chunks}

    @property
    def depth(self) -> int:
        """How many further hits may take the places of those that go."""
        return max(len(self.replaced), _OTHER_EDITIONS if self.editions else 0)

    def hides(self, page: str | None, expected: Collection[str]) -> bool:
        """Whether a page is another version or language than those that a query expects."""
        own = self.editions.get(page or "")
        kept = [self.editions.get(key) for key in expected]
        return own is not None and own not in kept and any(each and each[:-1] == own[:-1] for each in kept)

    @property
    def keeps_order(self) -> bool:
        """Whether the hits that stay keep their order, whatever ranks them: no text changes, and no point goes."""
        texts = any("text" in values for values in self.values.values())
        return not (self.replaced or texts or any(self.search_mode) or self.is_too_large)

    @property
    def unknown(self) -> frozenset[str]:
        """Stored points for which the repaired text is unknown."""
        return frozenset(point for point, values in self.values.items() if not values)

    @property
    def texts(self) -> dict[str, None]:
        """Texts to embed for its simulation."""
        compared = (text for pieces, stored in self.compared or () for text in (*pieces, *stored))
        return dict.fromkeys([*(chunk.embedded for chunk in self.chunks), *compared])

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        settings = self.paths or self.thresholds or self.dropped or any(self.search_mode) or self.editions
        return not (self.replaced or self.values or settings or self.is_too_large)


Cause = TypeVar("Cause")


def joined(repairs: Sequence[Repair]) -> Repair:
    """All repairs combined.

    Points deleted by one are not written by others. Of several texts for a point the first rewritten one is used, and
    an unchanged one only if no repair rewrites it.
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
        # Different repairs may add different chunks to the same page.
        key = (chunk.id, chunk.text if chunk.is_new else "")
        if chunk.id not in removed and (key not in chunks or (chunk.is_rewritten and not chunks[key].is_rewritten)):
            chunks[key] = replace(chunk, values={**chunk.values, **values.get(chunk.id, {})})
    return Repair(
        code=" and ".join(dict.fromkeys(repair.code for repair in repairs)),
        removed=removed,
        chunks=tuple(chunks.values()),
        unread=frozenset().union(*(repair.unread for repair in repairs)),
        values=values,
        paths=ChainMap(*(dict(repair.paths) for repair in repairs)),
        thresholds=ChainMap(*(dict(repair.thresholds) for repair in repairs)),
        dropped=dropped,
        search_mode=SearchMode(*map(any, zip(*(repair.search_mode for repair in repairs), strict=True))),
        editions=ChainMap(*(dict(repair.editions) for repair in repairs)),
    )


def fewest(causes: Sequence[Cause], clears: Callable[[Sequence[Cause]], bool]) -> list[Cause]:
    """A minimal subset of causes that clear something together; empty if they do not.

    The last ones are left out first.
    """
    needed = list(causes)
    if not clears(needed):
        return []
    for cause in reversed(causes):
        rest = [other for other in needed if other is not cause]
        if clears(rest):
            needed = rest
    return needed
