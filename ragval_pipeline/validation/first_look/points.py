"""The first points of a collection, and the values of their payloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.payload_paths import lookup, payload_paths
from ragval_pipeline.sources.site.urls import name_no_page
from ragval_pipeline.sources.snapshot.manifest import INTEGER_FIELDS
from ragval_pipeline.sources.snapshot.records import EMPTY_KINDS, kind_of, whole_number
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.protocol import Point

#: Mean characters from which a text is more than a name.
_LONG = 20  # definition


@dataclass(frozen=True)
class Look:
    """A first look at a collection."""

    facts: CollectionFacts
    points: Sequence[Point]

    @cached_property
    def observed(self) -> tuple[str, ...]:
        """Payload names of the points, for objects and their values, sorted."""
        return tuple(sorted({path for point in self.points for path in payload_paths(point.payload)}))

    @cached_property
    def texts(self) -> list[str]:
        """Payload names with texts of several words, longest first."""
        lengths = {path: self._mean_length(path) for path in self.observed}
        return sorted((path for path in lengths if lengths[path] >= _LONG), key=lambda path: -lengths[path])

    def _mean_length(self, path: str) -> float:
        texts = [value for value in self.values(path) if isinstance(value, str) and len(value.split()) > 2]
        return sum(map(len, texts)) / len(self.points) if self.points else 0.0

    def fits(self, name: str, path: str) -> bool:
        """Whether most values of a payload name fit a field; chunk ids must be unique, and addresses name pages."""
        values = self.values(path)
        if name == "text":
            return 2 * sum(isinstance(value, str) for value in values) >= len(values)
        if name == "source_url":
            return not name_no_page([value for value in values if isinstance(value, str)])
        if name in INTEGER_FIELDS:
            return 2 * sum(whole_number(value) is not None for value in values) >= len(values)
        return name != "chunk_id" or 2 * len(set(map(str, values))) >= len(values)

    def filled(self, path: str) -> int:
        """Points with a value under ``path`` that is not empty."""
        return len(self.values(path))

    def values(self, path: str) -> list[Any]:
        """The points' values under ``path``, without empty ones."""
        return [value for point in self.points if (value := value_of(point, path)) is not None]


def value_of(point: Point, path: str | None) -> Any:
    """The value of a point under ``path``; None if there is none, or it is empty."""
    present, value = lookup(point.payload, path) if path else (False, None)
    return None if kind_of(present, value) in EMPTY_KINDS | {"absent"} else value
