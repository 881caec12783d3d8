"""Whether a collection has changed, asked in a few cheap calls and without reading its points."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.names import unquoted
from ragval_pipeline.sources.stores.qdrant.points import Reader
from ragval_pipeline.suite.printing import plural

#: Types of payload indexes that a server can order by.
_ORDERED = frozenset({"datetime", "integer", "float"})
#: What of a collection's facts stays as it is while its optimiser works.
_SETTINGS = {"name", "vectors", "metadata", "hnsw", "indexing_threshold", "quantized"}


@dataclass(frozen=True)
class CollectionState:
    """What changes when a collection is filled anew.

    Attributes:
        name: The collection itself, also when an alias was asked for: a moved alias is a change.
        points: Exact number of points, after the filter.
        newest: Greatest value of the time field; None where it has no index to order by.
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

    Args:
        reader: Reads the collection.
        time_field: Payload field that says when a point was written. Without an index on it, a collection that was
            filled anew with as many points looks unchanged.

    Raises:
        SystemFailure: ``index.collection_missing`` or ``index.unreachable``.
    """
    facts = reader.facts()
    kinds = {unquoted(name): kind for name, kind in facts.payload_indexes.items()}
    ordered = time_field is not None and kinds.get(unquoted(time_field)) in _ORDERED
    return state_of(facts, reader.newest(str(time_field)) if ordered else None)


def state_of(facts: CollectionFacts, newest: str | None) -> CollectionState:
    """The state that facts and the newest time describe."""
    settings = facts.model_dump_json(include=_SETTINGS)
    told = f"{settings}\n{facts.points_count}\n{newest}"
    return CollectionState(facts.name, facts.points_count, newest, hashlib.sha256(told.encode()).hexdigest()[:12])


def fingerprint_of(reader: Reader, time_field: str | None) -> str:
    """What tells whether a collection is still the one that was measured: its state, and points with their vectors.

    Exact for a collection of one page of points; of a larger one, the page that comes first in the order of ids.

    Returns:
        SHA-256 in hex.

    Raises:
        SystemFailure: ``index.collection_missing`` or ``index.unreachable``.
    """
    import numpy as np

    digest = hashlib.sha256(read_state(reader, time_field).fingerprint.encode())
    for point in next(reader.pages(None, with_vectors=True), []):
        digest.update(json.dumps([point.id, point.payload], sort_keys=True, default=str).encode())
        # Not as JSON: a page of vectors is a million numbers.
        digest.update(np.asarray(point.vector or (), dtype="<f8").tobytes())
    return digest.hexdigest()
