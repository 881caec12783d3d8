"""What Qdrant says of a collection, as plain facts."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.stores.qdrant.strict_mode import StrictMode
from ragval_pipeline.suite.printing import nearest

Distance = Literal["Cosine", "Dot", "Euclid", "Manhattan"]


class VectorFacts(BaseModel):
    """Size and distance of one vector of a collection; ``name`` is None for the unnamed one."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str | None
    size: int
    distance: Distance

    @property
    def higher_is_better(self) -> bool:
        """True for Cosine and Dot; Euclid and Manhattan are distances."""
        return self.distance in {"Cosine", "Dot"}


class CollectionFacts(BaseModel):
    """Facts about a collection at the time of the read.

    Attributes:
        name: The collection itself, also when an alias was asked for.
        alias: The alias that was asked for, or None.
        local: True for qdrant-client's local mode, which has no HNSW, no payload indexes and is always green.
        status: green, yellow, grey or red.
        points_count: Exact number of points that the suite judges (after its filter).
        stored_points: Points of the whole collection, as the server says, approximate.
        indexed_vectors_count: As the server says, approximate, sparse vectors among them.
        sparse_vectors_count: Exact number of sparse vectors; None: not known.
        vectors: Every dense vector of the collection.
        payload_indexes: Indexed fields with their type.
        metadata: Free JSON that the ingestion put on the collection.
        optimizer: ``ok`` or the optimiser's error.
        deferred_points: Points hidden from search until they are optimised.
        hnsw: ``m``, ``ef_construct`` and ``full_scan_threshold`` as configured.
        indexing_threshold: Kilobytes of vectors in a segment above which HNSW is built, or None.
        segments: Segments of the collection, all shards together, or None.
        strict_mode: What may be asked for.
        sharding: ``auto`` or ``custom``; None: not known.
        quantized: Whether searches compare quantized vectors first, so that they are not exact without HNSW either.
        server_version: Version of the server, or None in local mode.
        simulated: True when a demonstration put these facts in place of the server's.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    alias: str | None = None
    local: bool = False
    status: str = "green"
    points_count: int
    stored_points: int | None = None
    indexed_vectors_count: int | None = None
    sparse_vectors_count: int | None = 0
    vectors: tuple[VectorFacts, ...] = ()
    payload_indexes: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    optimizer: str = "ok"
    deferred_points: int | None = None
    hnsw: dict[str, Any] = {}
    indexing_threshold: int | None = None
    segments: int | None = None
    strict_mode: StrictMode = Field(default_factory=StrictMode)
    sharding: str | None = None
    quantized: bool = False
    server_version: str | None = None
    simulated: bool = False

    def vector(self, name: str | None) -> VectorFacts | None:
        """The vector called ``name``; None if the collection has none of that name."""
        return next((vector for vector in self.vectors if vector.name == name), None)


def vectors_of(config: Any) -> tuple[VectorFacts, ...]:
    """The dense vectors of ``CollectionInfo.config.params.vectors``: one unnamed, or a mapping by name."""
    if config is None:
        return ()
    named = config.items() if isinstance(config, dict) else [(None, config)]
    return tuple(
        VectorFacts(name=name or None, size=entry.size, distance=entry.distance.value) for name, entry in named
    )


def check_vector_name(wanted: str | None, facts: CollectionFacts) -> None:
    """Hold ``qdrant.vector_name`` against the dense vectors of the collection, if it has any.

    Raises:
        SuiteError: There is no vector of that name.
    """
    if not facts.vectors or facts.vector(wanted) is not None:
        return
    names = [vector.name for vector in facts.vectors if vector.name is not None]
    if not names:
        problem = f"{facts.name} has no vector {wanted}, only one that has no name"
        raise SuiteError(problem, key="qdrant.vector_name", remedy="Take qdrant.vector_name out.")
    listed = ", ".join(names)
    if wanted is None:
        problem = f"is not given, and the vectors of {facts.name} have names: {listed}"
        raise SuiteError(problem, key="qdrant.vector_name", remedy=f"Name the one that is searched: {names[0]}?")
    near = nearest(wanted, names, count=1)
    remedy = f"Did you mean {near[0]}?" if near else "Name one of these."
    raise SuiteError(f"{facts.name} has no vector {wanted}; it has: {listed}", key="qdrant.vector_name", remedy=remedy)
