"""Detecting changes of a collection in a few cheap calls, without reading its points."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.names import unquoted
from ragval_pipeline.sources.stores.qdrant.protocol import Reader
from ragval_pipeline.text.printing import plural

#: Facts of a collection that its optimiser does not change.
_SETTINGS = {"name", "vectors", "metadata", "hnsw", "indexing_threshold", "quantized"}
#: Those on which the results of searches depend.
_SEARCHED = {"vectors", "other_vectors", "sparse", "hnsw", "quantized"}


@dataclass(frozen=True)
class CollectionState:
    """A state that changes when a collection is refilled.

    Attributes:
        name: The collection itself, even if an alias was given: a moved alias is a change.
        points: Number of points, after the filter.
        newest: Greatest value of the time field; None without an index for ordering.
        fingerprint: Twelve characters that differ between states, the collection's settings included.
    """

    name: str
    points: int
    newest: str | None
    fingerprint: str

    def __str__(self) -> str:
        newest = f", the newest of {self.newest}" if self.newest else ""
        return f"{self.name} with {plural(self.points, 'point')}{newest}"


def read_state(reader: Reader, time_field: str | None) -> CollectionState:
    """The state of a collection now.

    ``time_field`` is the payload field with the time a point was written. Without an index on it, a collection refilled
    with as many points looks unchanged.

    Raises:
        SystemFailure: ``index.collection_missing`` or ``index.unreachable``.
    """
    facts = reader.facts()
    ordered = time_field is not None and unquoted(time_field) in map(unquoted, facts.ordered)
    return state_of(facts, reader.newest(str(time_field)) if ordered else None)


def state_of(facts: CollectionFacts, newest: str | None) -> CollectionState:
    """The state from facts and the newest time."""
    settings = facts.model_dump_json(include=_SETTINGS)
    told = f"{settings}\n{facts.points_count}\n{newest}"
    return CollectionState(facts.name, facts.points_count, newest, hashlib.sha256(told.encode()).hexdigest()[:12])


def same_settings(one: CollectionFacts, other: CollectionFacts) -> bool:
    """Whether two collections have the same vectors, and search them in the same way."""
    return one.model_dump(include=_SEARCHED) == other.model_dump(include=_SEARCHED)


def fingerprint_of(reader: Reader, time_field: str | None) -> str:
    """A fingerprint of a measured collection: its state, and points with their vectors.

    Complete for a collection of one page of points; of a larger one, the first page in id order.

    Returns:
        SHA-256 in hex.

    Raises:
        SystemFailure: ``index.collection_missing`` or ``index.unreachable``.
    """
    digest = hashlib.sha256(read_state(reader, time_field).fingerprint.encode())
    for point in next(reader.pages(None, with_vectors=True), []):
        digest.update(json.dumps([point.id, point.payload], sort_keys=True, default=str).encode())
        # Not as JSON: a page of vectors is a million numbers. As they are stored: REST writes them with fewer digits.
        digest.update(np.asarray(point.vector or (), dtype="<f4").tobytes())
    return digest.hexdigest()
