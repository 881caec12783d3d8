"""Points and hits, the reader interface of a validation, and points read over REST."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, Protocol

from typing_extensions import TypedDict  # pydantic requires it before Python 3.12

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.names import canonical_ids

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.scanning import Search, Way
    from ragval_pipeline.sources.stores.qdrant.vectors import VectorBatch


class Point(NamedTuple):
    """One stored point: its id as text, its payload, and its vector if requested."""

    id: str
    payload: dict[str, Any]
    vector: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a search: rank from 1, id as text, the raw score of the collection's distance, payload."""

    rank: int
    id: str
    score: float
    payload: dict[str, Any] = field(default_factory=dict)


class Found(NamedTuple):
    """The result of one of many searches.

    Attributes:
        hits: Best first.
        milliseconds: Its share of the call's time, retries and waits included.
        asked_at: When that call began, UTC.
    """

    hits: list[Hit]
    milliseconds: float
    asked_at: datetime


class Reader(Protocol):
    """The read interface of a collection; demonstrations implement it too."""

    place: str

    def facts(self) -> CollectionFacts:
        """Facts about the collection."""

    def count(self) -> int:
        """Exact number of points."""

    def newest(self, field: str) -> str | None:
        """The greatest value of an indexed payload field, as text; None without any."""

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point, in pages."""

    def way(self, facts: CollectionFacts) -> Way:
        """How ``scan`` may read a collection with these facts."""

    def scan(self, fields: Sequence[str] | None, way: Way, *, points: int) -> Iterator[list[Point]]:
        """Every point without its vector, as fast as the connection allows; texts unchanged."""

    def vectors(self, ids: Sequence[str] | None = None) -> Iterator[VectorBatch]:
        """The stored vectors of all or some points, in batches."""

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The nearest points, best first."""

    def search_all(self, searches: Iterable[Search], *, fields: Sequence[str], exact: bool) -> Iterator[Found]:
        """The results of many searches, in order, as fast as the connection allows."""


class _Page(TypedDict):
    # Not validated by a model: that costs as much as reading, and ``scroll`` checks them anyway.
    points: list[Any]
    next_page_offset: NotRequired[int | str | None]


class _Scrolled(TypedDict):
    result: _Page


class _Retrieved(TypedDict):
    result: list[Any]


class RestPoints:
    """The calls that return many points, without a model for each: their JSON is checked and used directly.

    qdrant-client makes the request and raises its errors; only the type of the parsed response is our own. Over gRPC,
    in local mode and with other clients, the usual calls are used.

    Args:
        client: A ``QdrantClient`` that ``of_client`` accepts.
        collection: Collection or alias.
    """

    def __init__(self, client: Any, collection: str) -> None:
        self._api = client.http.points_api.api_client
        self._collection = collection

    @classmethod
    def of_client(cls, client: Any, collection: str) -> RestPoints | None:
        """The calls of a REST client; None for any other."""
        remote: Any = getattr(client, "_client", None)
        speaks = type(remote).__name__ == "QdrantRemote" and not remote._prefer_grpc
        return cls(client, collection) if speaks else None

    def scroll(self, body: Mapping[str, Any]) -> tuple[list[Point], int | str | None]:
        """Points without vectors, and the offset of the next page.

        Their texts may have lone surrogates, if a server sends them.
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
        """Points by id, without payload; ``vector`` of each as in the response.

        Args:
            ids: Point ids; missing ones are left out.
            vector: As ``with_vector``.
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
