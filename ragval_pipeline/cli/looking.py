"""A first look at a collection and its sitemap, for ``doctor`` and ``init``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragval_pipeline.rules.index.collection_missing import RULE as COLLECTION_MISSING
from ragval_pipeline.sources.payload_paths import lookup, payload_paths
from ragval_pipeline.sources.snapshot.manifest import INTEGER_FIELDS
from ragval_pipeline.sources.snapshot.records import EMPTY_KINDS, kind_of, whole_number
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.suite.sections import RetrySettings

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.protocol import Point, Reader
    from ragval_pipeline.suite.sections import QdrantSettings

#: Mean characters from which a text is more than a name.
_LONG = 20
#: The user is waiting: a single retry.
PATIENCE = RetrySettings(max=1, delay_s=0.5, deadline_s=60)


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
        """Whether most values of a payload name fit a field; chunk ids must be unique."""
        values = self.values(path)
        if name == "text":
            return 2 * sum(isinstance(value, str) for value in values) >= len(values)
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


@contextmanager
def opened_reader(settings: QdrantSettings) -> Iterator[Reader]:
    """A reader of the settings' collection, closed at the end.

    Raises:
        SuiteError, SystemFailure: As ``opening.opened_reader``.
    """
    from ragval_pipeline.sources.stores import opening

    with opening.opened_reader(settings, policy=PATIENCE) as reader:
        yield reader


def look_at(reader: Reader, *, points: int = 1) -> Look:
    """Facts and first points of a collection.

    Args:
        reader: Reads it.
        points: Minimum number to read, if available; read in pages of some hundreds.

    Raises:
        SystemFailure: Qdrant does not answer, or the collection does not exist.
    """
    read: list[Point] = []
    for page in reader.pages(None):
        read += page
        if len(read) >= points:
            break
    return Look(reader.facts(), read)


def collections_of(settings: QdrantSettings) -> list[str]:
    """Names of all collections, sorted.

    Raises:
        SystemFailure: Qdrant does not answer, or has none.
    """
    from ragval_pipeline.errors import SystemFailure
    from ragval_pipeline.sources.stores.qdrant.asking import Asking
    from ragval_pipeline.sources.stores.qdrant.connect import open_client, place_of

    place = place_of(settings)
    with open_client(settings) as client:
        ask = Asking(client, collection=settings.collection, place=place, policy=PATIENCE)
        names = sorted(entry.name for entry in ask(client.get_collections).collections)
    if not names:
        raise SystemFailure(
            f"{place} has no collections",
            code=COLLECTION_MISSING.code,
            system="Qdrant",
            subject=place,
            remedy="Run the ingestion first.",
        )
    return names
