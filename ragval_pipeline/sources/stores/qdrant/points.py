"""What a collection gives: points, hits, the few questions that a validation asks, and points read over REST."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, Protocol

from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.names import canonical_ids

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.scanning import Search, Way
    from ragval_pipeline.sources.stores.qdrant.vectors import VectorBatch


class Point(NamedTuple):
    """One stored point: its id as text, its payload, and its vector when asked for."""

    id: str
    payload: dict[str, Any]
    vector: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer to a query: rank from 1, id as text, the raw score of the collection's distance, payload."""

    rank: int
    id: str
    score: float
    payload: dict[str, Any] = field(default_factory=dict)


class Found(NamedTuple):
    """What one of many searches found.

    Attributes:
        hits: Best first.
        milliseconds: Its share of the call that it was made in, retries and waiting included.
        asked_at: When that call began, UTC.
    """

    hits: list[Hit]
    milliseconds: float
    asked_at: datetime


class Reader(Protocol):
    """What a validation asks of a collection; a demonstration may stand in for the real one."""

    place: str

    def facts(self) -> CollectionFacts:
        """Facts about the collection."""

    def count(self) -> int:
        """Exact number of points."""

    def newest(self, field: str) -> str | None:
        """The greatest value of an indexed payload field, as text; null without any."""

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point, some at a time."""

    def way(self, facts: CollectionFacts) -> Way:
        """How ``scan`` may read a collection with these facts."""

    def scan(self, fields: Sequence[str] | None, way: Way, *, points: int) -> Iterator[list[Point]]:
        """Every point without its vector, as quickly as the connection allows; texts as the server wrote them."""

    def vectors(self, ids: Sequence[str] | None = None) -> Iterator[VectorBatch]:
        """The stored vectors of every point, or of some, some at a time."""

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The nearest points, best first."""

    def search_all(self, searches: Iterable[Search], *, fields: Sequence[str], exact: bool) -> Iterator[Found]:
        """What each of many searches finds, in their order, as quickly as the connection allows."""


class _Page(TypedDict):
    # Of any shape: to check each of millions costs as much as to read it, and ``scroll`` looks at them anyway.
    points: list[Any]
    next_page_offset: NotRequired[int | str | None]


class _Scrolled(TypedDict):
    result: _Page


class _Retrieved(TypedDict):
    result: list[Any]


class RestPoints:
    """The calls that answer with many points, read without a model for each: their JSON is checked and used as it is.

    qdrant-client makes the request and explains its failures; only the type that an answer is parsed into is our own.
    Over gRPC, in local mode and through clients of other kinds, its usual calls serve.

    Args:
        client: A ``QdrantClient`` that ``of_client`` accepts.
        collection: Collection or alias.
    """

    def __init__(self, client: Any, collection: str) -> None:
        self._api = client.http.points_api.api_client
        self._collection = collection

    @classmethod
    def of_client(cls, client: Any, collection: str) -> RestPoints | None:
        """The calls of a client that speaks REST; None for any other."""
        remote: Any = getattr(client, "_client", None)
        speaks = type(remote).__name__ == "QdrantRemote" and not remote._prefer_grpc
        return cls(client, collection) if speaks else None

    def scroll(self, body: Mapping[str, Any]) -> tuple[list[Point], int | str | None]:
        """Points without vectors, and the offset of the next page.

        Their texts may hold halves of surrogate pairs, if a server sends such.
        """
        page = self._post("/collections/{collection_name}/points/scroll", body, _Scrolled)["result"]
        try:
            ids = canonical_ids([entry["id"] for entry in page["points"]])
            payloads = [entry.get("payload") for entry in page["points"]]
            if not set(map(type, payloads)) <= {dict}:
                payloads = [_mapping(payload) for payload in payloads]
            points = list(map(Point, ids, payloads))
        except (TypeError, KeyError, AttributeError):
            raise AssertionError("points without an id, or with a payload that is not an object") from None
        return points, page.get("next_page_offset")

    def retrieve(self, ids: Sequence[int | str], vector: Any) -> dict[str, dict[str, Any]]:
        """Points by id, without payload: ``vector`` of each as the server wrote it.

        Args:
            ids: Of the points; those that are not there are left out.
            vector: Which vectors, as ``with_vector`` says.
        """
        body = {"ids": list(ids), "with_payload": False, "with_vector": vector}
        records = self._post("/collections/{collection_name}/points", body, _Retrieved)["result"]
        try:
            return dict(zip(canonical_ids([record["id"] for record in records]), records, strict=True))
        except (TypeError, KeyError):
            raise AssertionError("points without an id") from None

    def _post(self, url: str, body: Mapping[str, Any], kind: Any) -> Any:
        return self._api.request(
            type_=kind,
            method="POST",
            url=url,
            headers={"Content-Type": "application/json"},
            path_params={"collection_name": self._collection},
            params={},
            content=json.dumps(body).encode(),
        )


def _mapping(payload: Any) -> dict[str, Any]:
    if payload is None:
        return {}
    if not isinstance(payload, dict):
        raise TypeError
    return payload
