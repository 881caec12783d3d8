"""Qdrant's facts about a collection, and calls within the limits of its strict mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.stores.qdrant.coding import Coding
from ragval_pipeline.text.printing import nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.stores.qdrant.asking import Asking


T = TypeVar("T")
#: Qdrant's refusals in strict mode, over REST and gRPC.
_REFUSED = frozenset({400, "INVALID_ARGUMENT"})


class StrictMode(BaseModel):
    """Limits of a collection; without strict mode there are none.

    Attributes:
        page: Maximum points per request; None: unlimited.
        exact: Whether exact searches and counts are allowed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    page: int | None = None
    exact: bool = True


def strict_mode_of(config: Any) -> StrictMode:
    """The limits in ``CollectionInfo.config``."""
    strict = getattr(config, "strict_mode_config", None)
    if strict is None or not strict.enabled:
        return StrictMode()
    return StrictMode(page=strict.max_query_limit, exact=strict.search_allow_exact is not False)


class Limits:
    """Calls within a collection's limits: unlimited first, and as strict mode allows after a refusal."""

    def __init__(self, ask: Asking, read: Callable[[], Any]) -> None:
        self._ask = ask
        self._read = read
        self._known: StrictMode | None = None
        #: Points of the largest page that is still asked for.
        self._taken: int | None = None
        #: Ids of the largest request for points by id that is still made; None: any number.
        self.ids: int | None = None

    def page(self, call: Callable[[int], T], wanted: int) -> T:
        """The result of ``call`` for ``wanted`` points, or for as many as allowed.

        Raises:
            SystemFailure: As ``Asking``.
        """
        from ragval_pipeline.sources.stores.qdrant.asking import TooMuchAtOnceError

        while True:
            asked = self._at_most(wanted)
            try:
                return self._ask(partial(call, asked), divisible=asked > 1)
            except TooMuchAtOnceError:
                if asked <= 1:
                    raise
                self._taken = asked // 2
            except SystemFailure as failure:
                self._learn(failure)
                if self._at_most(wanted) == asked:
                    raise

    def whole(self, call: Callable[[], T], wanted: int) -> T:
        """The result of ``call`` for exactly ``wanted`` hits.

        Raises:
            SystemFailure: As ``Asking``; if strict mode forbids so many, its ``most_hits`` is the limit.
        """
        try:
            return self._ask(call)
        except SystemFailure as failure:
            most = self._learn(failure).page
            if most is None or most >= wanted:
                raise
            raise SystemFailure(
                failure.problem,
                code=failure.code,
                system=failure.system,
                subject=failure.subject,
                remedy="Lower retrieval.top_k, or raise max_query_limit of the collection's strict mode.",
                attempts=failure.attempts,
                details={**failure.details, "most_hits": most},
            ) from failure

    def exact(self, call: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """The result of ``call``, or of ``otherwise`` if exact results are forbidden.

        Raises:
            SystemFailure: As ``Asking``.
        """
        if self._known is None or self._known.exact:
            try:
                return self._ask(call)
            except SystemFailure as failure:
                if self._learn(failure).exact:
                    raise
        return otherwise()

    def _at_most(self, wanted: int) -> int:
        allowed = self._known.page if self._known else None
        return min(limit for limit in (wanted, allowed, self._taken) if limit is not None)

    def _learn(self, failure: SystemFailure) -> StrictMode:
        """Read the limits after a refusal; raises the refusal if it had another reason."""
        if failure.status not in _REFUSED:
            raise failure
        if self._known is None:
            try:
                self._known = strict_mode_of(self._read().config)
            except Exception:  # noqa: BLE001  why the request was refused is already known
                raise failure from None
        return self._known


#: Why texts of a redacted file are not compared.
NONSENSE = "its texts are nonsense: ragval export --redact wrote it"

OtherKind = Literal["sparse", "multivector"]
Distance = Literal["Cosine", "Dot", "Euclid", "Manhattan"]


#: The datatype of whole numbers, which no model returns by default.
UINT8 = "uint8"


class VectorFacts(BaseModel):
    """One vector of a collection.

    Attributes:
        name: None for the unnamed one.
        size: Its dimension.
        distance: How two are compared.
        datatype: How its numbers are stored: float32, float16 or uint8, or what a later server names.
        coding: How stored numbers come from a model's, as far as learnt; None: they are the model's.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str | None
    size: int
    distance: Distance
    datatype: str = "float32"
    #: No fact of the collection: two reads of it are the same without.
    coding: Coding | None = Field(None, exclude=True)

    @property
    def coded(self) -> bool:
        """Whether stored numbers are others than the model's."""
        return self.datatype == UINT8

    def centred(self, stored: NDArray[np.float32]) -> NDArray[np.float32]:
        """Stored vectors, row by row, as they are compared."""
        return stored if self.coding is None or not stored.size else self.coding.centred(stored)

    @property
    def higher_is_better(self) -> bool:
        """True for Cosine and Dot; Euclid and Manhattan are distances."""
        return self.distance in {"Cosine", "Dot"}


class SparseFacts(BaseModel):
    """Name of one sparse vector of a collection, and whether searches weight its numbers by their rarity (IDF)."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    idf: bool


class CollectionFacts(BaseModel):
    """Facts about a collection at the time of the read.

    Attributes:
        name: The collection itself, even if an alias was given.
        alias: The alias given, or None.
        local: True for qdrant-client's local mode, which has no HNSW, no payload indexes and is always green.
        status: green, yellow, grey or red.
        points_count: Number of points that the suite judges (after its filter): exact, unless strict mode forbids that.
        stored_points: Approximate points of the whole collection, from the server.
        indexed_vectors_count: Approximate, from the server, including sparse vectors.
        sparse_vectors_count: Exact number of sparse vectors; None: not known.
        vectors: Every dense vector of the collection.
        other_vectors: Types of its other vectors, by name: ``sparse`` or ``multivector``.
        sparse: Every sparse vector of the collection.
        payload_indexes: Indexed fields with their type.
        tenant_indexes: Indexed fields whose index is for tenants; None: the server does not say.
        ordered: Indexed fields by which points can be ordered.
        metadata: Free JSON stored with the collection by the ingestion.
        optimizer: ``ok`` or the optimiser's error.
        deferred_points: Points hidden from search until they are optimised.
        hnsw: ``m``, ``ef_construct`` and ``full_scan_threshold`` as configured.
        indexing_threshold: Kilobytes of vectors in a segment above which HNSW is built, or None.
        segments: Segments of the collection, all shards together, or None.
        strict_mode: Limits of requests.
        sharding: ``auto`` or ``custom``; None: not known.
        quantized: Whether searches compare quantized vectors first, so that they are not exact even without HNSW.
        server_version: Version of the server, or None in local mode.
        simulated: Whether these facts are simulated for a demonstration.
        redacted: Whether texts were replaced by nonsense when the points were exported: a file that is shared.
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
    other_vectors: dict[str, OtherKind] = {}
    sparse: tuple[SparseFacts, ...] = ()
    payload_indexes: dict[str, str] = {}
    tenant_indexes: tuple[str, ...] | None = None
    ordered: tuple[str, ...] = ()
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
    redacted: bool = False

    @property
    def is_sparse_only(self) -> bool:
        """Whether all of its vectors are sparse: searches compare words, not meanings."""
        return not self.vectors and set(self.other_vectors.values()) == {"sparse"}

    @property
    def has_no_vectors_yet(self) -> bool:
        """Whether nothing tells which vectors its points will have: a file without points."""
        return not (self.points_count or self.vectors or self.other_vectors)

    def vector(self, name: str | None) -> VectorFacts | None:
        """The vector called ``name``; None if there is none."""
        return next((vector for vector in self.vectors if vector.name == name), None)


def vectors_of(config: Any) -> tuple[VectorFacts, ...]:
    """The dense vectors of ``CollectionInfo.config.params.vectors``: one unnamed, or a mapping by name."""
    return tuple(
        VectorFacts(
            name=name,
            size=entry.size,
            distance=entry.distance.value,
            datatype=str(getattr(entry.datatype, "value", entry.datatype) or "float32"),
        )
        for name, entry in _named(config)
        if entry.multivector_config is None
    )


def other_vectors_of(params: Any) -> dict[str, OtherKind]:
    """The sparse vectors and multivectors of ``CollectionInfo.config.params``, by name; "" is the unnamed one."""
    several = [name or "" for name, entry in _named(params.vectors) if entry.multivector_config is not None]
    kinds: dict[str, OtherKind] = dict.fromkeys(several, "multivector")
    return {**kinds, **dict.fromkeys(params.sparse_vectors or (), "sparse")}


def sparse_of(params: Any) -> tuple[SparseFacts, ...]:
    """The sparse vectors of ``CollectionInfo.config.params``."""
    return tuple(
        SparseFacts(name=name, idf=str(getattr(entry.modifier, "value", entry.modifier)) == "idf")
        for name, entry in (params.sparse_vectors or {}).items()
    )


def _named(config: Any) -> list[tuple[str | None, Any]]:
    if config is None:
        return []
    return [(name or None, entry) for name, entry in config.items()] if isinstance(config, dict) else [(None, config)]


#: Types of payload indexes that support ordering.
_ORDERED = frozenset({"datetime", "integer", "float"})


def ordered_fields(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Fields of ``CollectionInfo.payload_schema`` that points can be ordered by: an index may be for lookups only."""
    return tuple(
        name
        for name, entry in schema.items()
        if entry.data_type.value in _ORDERED and getattr(entry.params, "range", None) is not False
    )


#: The first version of Qdrant with indexes for tenants.
_WITH_TENANTS = (1, 11)


def tenant_fields(schema: Mapping[str, Any], version: str | None) -> tuple[str, ...] | None:
    """Fields of ``CollectionInfo.payload_schema`` whose index is one for tenants; None if the server knows none."""
    numbers = [int(part) for part in (version or "").split(".")[:2] if part.isdigit()]
    if tuple(numbers) < _WITH_TENANTS:
        return None
    return tuple(name for name, entry in schema.items() if getattr(entry.params, "is_tenant", None))


_KINDS: dict[OtherKind, str] = {"sparse": "sparse vector", "multivector": "multivector"}


def no_dense_vector(facts: CollectionFacts) -> tuple[str, str]:
    """What a collection without dense vectors has instead, and what to do."""
    others = ", ".join(f"{name or 'without a name'} ({kind})" for name, kind in facts.other_vectors.items())
    remedy = "ragval checks one dense vector per point: choose a collection that has one."
    if facts.is_sparse_only:
        remedy = "Set retrieval.mode: sparse, if your assistant searches by these."
    return "has no dense vector" + (f", only {others}" if others else ""), remedy


def check_sparse_name(wanted: str | None, facts: CollectionFacts) -> None:
    """Check ``retrieval.sparse.vector_name`` against the sparse vectors of the collection.

    Raises:
        SuiteError: There is no sparse vector of that name.
    """
    names = [each.name for each in facts.sparse]
    if wanted is None or wanted in names:
        return
    key = "retrieval.sparse.vector_name"
    if not names:
        raise SuiteError(f"{facts.name} has no sparse vector", key=key, remedy=f"Take {key} out.")
    near = nearest(wanted, names, count=1)
    remedy = f"Did you mean {near[0]}?" if near else "Choose one of these."
    raise SuiteError(f"{facts.name} has no sparse vector {wanted}; it has: {', '.join(names)}", key=key, remedy=remedy)


def check_vector_name(wanted: str | None, facts: CollectionFacts) -> None:
    """Check ``qdrant.vector_name`` against the dense vectors of the collection, if it has any.

    Raises:
        SuiteError: There is no vector of that name.
    """
    if not facts.vectors or facts.vector(wanted) is not None:
        return
    names = [vector.name for vector in facts.vectors if vector.name is not None]
    if not names:
        problem = f"{facts.name} has no vector {wanted}, only an unnamed one"
        raise SuiteError(problem, key="qdrant.vector_name", remedy="Take qdrant.vector_name out.")
    listed = ", ".join(names)
    kind = facts.other_vectors.get(wanted or "")
    if kind is not None:
        searched = f"searches compare one dense vector per point: {listed}"
        problem = f"{wanted or 'the vector'} of {facts.name} is a {_KINDS[kind]}, and {searched}"
        raise SuiteError(problem, key="qdrant.vector_name", remedy=f"Name {' or '.join(names)}.")
    if wanted is None:
        problem = f"is not given, and the vectors of {facts.name} have names: {listed}"
        raise SuiteError(problem, key="qdrant.vector_name", remedy=f"Set the one that is searched: {names[0]}?")
    near = nearest(wanted, names, count=1)
    remedy = f"Did you mean {near[0]}?" if near else "Choose one of these."
    raise SuiteError(f"{facts.name} has no vector {wanted}; it has: {listed}", key="qdrant.vector_name", remedy=remedy)
