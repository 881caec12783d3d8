"""Points read over REST as plain JSON, without a model for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict  # pydantic requires it before Python 3.12

from ragval_pipeline.sources.stores.qdrant.names import canonical_ids
from ragval_pipeline.sources.stores.qdrant.protocol import Point


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

        Missing ones are left out.
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
