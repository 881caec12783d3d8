"""Collections in Qdrant Edge, answering REST calls like a server."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import qdrant_edge as edge

VERSION = "1.20.0"


class Refused(Exception):
    """A response other than 200: status and Qdrant's message."""

    def __init__(self, status: int, words: str) -> None:
        self.status = status
        super().__init__(words)


@dataclass
class Collection:
    """One collection: its shard and what it was created with.

    ``strict["most_at_once"]``: searches of a batch, or ids, that one request may have. ``counted_twice``: points that
    count twice, like the same ids under two shard keys. ``reads``: requests that ``strict["read_rate_limit"]`` counts.
    """

    shard: edge.EdgeShard
    vectors: dict[str, Any]
    metadata: dict[str, Any] | None
    indexes: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: str = "green"
    hnsw: dict[str, int] = field(default_factory=dict)
    indexing_threshold: int = 10_000
    strict: dict[str, Any] = field(default_factory=dict)
    sparse: dict[str, Any] = field(default_factory=dict)
    sharding: str | None = None
    quantization: dict[str, Any] | None = None
    counted_twice: int = 0
    reads: int = 0


class Engine:
    """All collections of one server; ``answer`` is the only entry point."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="edge-"))
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self.collections: dict[str, Collection] = {}
        self.aliases: dict[str, str] = {}

    def close(self) -> None:
        for collection in self.collections.values():
            collection.shard.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """The ``result`` of a call.

        Raises:
            Refused: As a server would.
        """
        with self._lock:
            for verb, pattern, handler in _ROUTES:
                match = re.fullmatch(pattern, path)
                if verb == method and match:
                    try:
                        return handler(self, body, *match.groups())
                    except (TypeError, ValueError) as error:
                        raise Refused(400, f"Format error in JSON body: {error}") from None
                    except Exception as error:
                        if isinstance(error, Refused):
                            raise
                        raise Refused(400, f"Wrong input: {error}") from None
        raise Refused(404, "")

    def find(self, name: str) -> Collection:
        name = self.aliases.get(name, name)
        if name not in self.collections:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return self.collections[name]

    def read(self, name: str, asked: dict[str, Any]) -> Collection:
        """The collection, unless its strict mode forbids the request's ``limit`` or ``exact``."""
        collection = self.find(name)
        strict = collection.strict
        if not strict.get("enabled"):
            return collection
        collection.reads += 1
        most, given = strict.get("max_query_limit"), asked.get("limit")
        if most is not None and given is not None and given > most:
            raise Refused(400, f'Bad request: Limit exceeded {given} > {most} for "limit". Help: Reduce the "limit".')
        if asked.get("exact") and strict.get("search_allow_exact") is False:
            raise Refused(400, "Bad request: Exact search disabled! Help: Set exact=false.")
        cost = len(asked.get("searches", ())) + len(asked.get("ids", ()))
        if cost > strict.get("most_at_once", cost):
            most = strict["most_at_once"]
            raise Refused(
                429,
                f"Rate limiting exceeded: Read rate limit exceeded: Operation requires {cost} tokens but only {most} "
                "were available. Please, split your request into smaller ones.",
            )
        if collection.reads > strict.get("read_rate_limit", collection.reads):
            raise Refused(429, "Rate limit exceeded: Read rate limit exceeded, retry later.")
        return collection

    def create(self, body: dict[str, Any], name: str) -> bool:
        if name in self.collections:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        vectors, sparse = body.get("vectors") or {}, body.get("sparse_vectors") or {}
        folder = self._folder / str(next(self._numbers))
        folder.mkdir()
        hnsw, optimizers = body.get("hnsw_config"), body.get("optimizers_config") or {}
        config = edge.EdgeConfig(
            vectors=_params(vectors),
            sparse_vectors={name: edge.EdgeSparseVectorParams(modifier=_modifier(how)) for name, how in sparse.items()},
            wal_enabled=False,
            hnsw_config=None if hnsw is None else edge.HnswIndexConfig(**{**_HNSW, **_given(hnsw)}),
            quantization_config=_quantization(body.get("quantization_config")),
            optimizers=edge.EdgeOptimizersConfig(**_given(optimizers)) if optimizers else None,
        )
        shard = edge.EdgeShard.create(str(folder), config)
        self.collections[name] = Collection(
            shard,
            vectors,
            body.get("metadata"),
            hnsw={**_HNSW, **_given(hnsw or {})},
            indexing_threshold=optimizers.get("indexing_threshold") or 10_000,
            strict=_given(body.get("strict_mode_config") or {}),
            sparse={name: _given(how or {}) for name, how in sparse.items()},
            sharding=body.get("sharding_method"),
            quantization=body.get("quantization_config"),
        )
        return True

    def optimize(self, name: str) -> None:
        """Index pending vectors; a server does so automatically."""
        with self._lock:
            self.find(name).shard.optimize()

    def drop(self, body: dict[str, Any], name: str) -> bool:
        collection = self.collections.pop(name, None)
        if collection is not None:
            collection.shard.close()
        return collection is not None

    def listed(self, body: dict[str, Any]) -> Any:
        return {"collections": [{"name": name} for name in self.collections]}

    def exists(self, body: dict[str, Any], name: str) -> Any:
        return {"exists": name in self.collections}

    def info(self, body: dict[str, Any], name: str) -> Any:
        collection = self.find(name)
        facts = collection.shard.info()
        schema = {
            name: {
                "data_type": params["type"],
                "points": facts.points_count,
                **({"params": params} if params.keys() - {"type"} else {}),
            }
            for name, params in collection.indexes.items()
        }
        return {
            "status": collection.status,
            "optimizer_status": "ok",
            "indexed_vectors_count": facts.indexed_vectors_count,
            "points_count": facts.points_count,
            # Ids that are stored twice are in another shard, which has a segment at least.
            "segments_count": facts.segments_count + (collection.counted_twice > 0),
            "config": {
                "params": {
                    "vectors": collection.vectors,
                    "shard_number": 1,
                    "on_disk_payload": True,
                    "sharding_method": collection.sharding,
                    "sparse_vectors": collection.sparse or None,
                },
                "hnsw_config": collection.hnsw,
                "quantization_config": collection.quantization,
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                    "indexing_threshold": collection.indexing_threshold,
                },
                "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
                "metadata": collection.metadata,
                "strict_mode_config": collection.strict or None,
            },
            "payload_schema": schema,
        }

    def change_aliases(self, body: dict[str, Any]) -> bool:
        for action in body["actions"]:
            if "create_alias" in action:
                made = action["create_alias"]
                self.find(made["collection_name"])
                self.aliases[made["alias_name"]] = made["collection_name"]
            if "delete_alias" in action:
                self.aliases.pop(action["delete_alias"]["alias_name"], None)
        return True

    def listed_aliases(self, body: dict[str, Any]) -> Any:
        return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in self.aliases.items()]}

    def upsert(self, body: dict[str, Any], name: str) -> Any:
        batch = body.get("batch")
        if batch is not None:
            payloads = batch.get("payloads") or [None] * len(batch["ids"])
            vectors = batch["vectors"]
            if isinstance(vectors, dict):
                vectors = [dict(zip(vectors, row, strict=True)) for row in zip(*vectors.values(), strict=True)]
            entries = zip(batch["ids"], vectors, payloads, strict=True)
        else:
            entries = ((entry["id"], entry["vector"], entry.get("payload")) for entry in body["points"])
        points = [edge.Point(point_id, _vector(vector), payload or {}) for point_id, vector, payload in entries]
        self.find(name).shard.update(edge.UpdateOperation.upsert_points(points))
        return {"operation_id": 0, "status": "completed"}

    def delete(self, body: dict[str, Any], name: str) -> Any:
        if "filter" in body:
            change = edge.UpdateOperation.delete_points_by_filter(_filter(body["filter"]))
        else:
            change = edge.UpdateOperation.delete_points(body["points"])
        self.find(name).shard.update(change)
        return {"operation_id": 0, "status": "completed"}

    def index(self, body: dict[str, Any], name: str) -> Any:
        given = body["field_schema"]
        params = given if isinstance(given, dict) else {"type": given}
        kind = getattr(edge.PayloadSchemaType, params["type"].capitalize())
        collection = self.find(name)
        if params.get("scoring"):
            kind = edge.TextIndexParams(scoring=True)
        collection.shard.update(edge.UpdateOperation.create_field_index(body["field_name"], kind))
        collection.indexes[body["field_name"]] = params
        return {"operation_id": 0, "status": "completed"}

    def count(self, body: dict[str, Any], name: str) -> Any:
        collection = self.read(name, {"exact": body.get("exact", True)})
        request = edge.CountRequest(exact=body.get("exact", True), filter=_filter(body.get("filter")))
        return {"count": collection.shard.count(request) + collection.counted_twice}

    def scroll(self, body: dict[str, Any], name: str) -> Any:
        order = body.get("order_by")
        index = self.find(name).indexes.get((order or {}).get("key", ""), {})
        if order is not None and (not index or index.get("range") is False):
            raise Refused(400, f"Bad request: No range index for `order_by` key: `{order['key']}`.")
        records, offset = self.read(name, {"limit": body.get("limit", 10)}).shard.scroll(
            edge.ScrollRequest(
                offset=body.get("offset"),
                limit=1_000_000 if order else body.get("limit", 10),
                filter=_filter(body.get("filter")),
                with_payload=body.get("with_payload", True),
                with_vector=body.get("with_vector", False),
            )
        )
        if order is not None:
            falls = order.get("direction") == "desc"
            records = sorted(records, key=lambda entry: (entry.payload or {}).get(order["key"]), reverse=falls)
            records, offset = records[: body.get("limit", 10)], None
        points = [
            {"id": _id(entry.id), "payload": entry.payload, "vector": _written(entry.vector)} for entry in records
        ]
        return {"points": points, "next_page_offset": None if offset is None else _id(offset)}

    def retrieve(self, body: dict[str, Any], name: str) -> Any:
        shard, with_payload = self.read(name, {"ids": body["ids"]}).shard, body.get("with_payload", True)
        records = shard.retrieve(body["ids"], with_payload, body.get("with_vector", False))
        return list(map(_record, records))

    def query_batch(self, body: dict[str, Any], name: str) -> Any:
        self.read(name, {"searches": body["searches"]})
        return [self.query(search, name) for search in body["searches"]]

    def query(self, body: dict[str, Any], name: str) -> Any:
        exact = (body.get("params") or {}).get("exact", False)
        request = edge.QueryRequest(
            query=_query(body),
            prefetches=[
                edge.Prefetch(
                    each["limit"],
                    query=_query(each),
                    params=_search_params(each.get("params") or {}),
                    filter=_filter(each.get("filter")),
                )
                for each in body.get("prefetch") or ()
            ],
            limit=body.get("limit", 10),
            filter=_filter(body.get("filter")),
            params=_search_params(body.get("params") or {}),
            with_payload=body.get("with_payload", False),
        )
        hits = self.read(name, {"limit": body.get("limit", 10), "exact": exact}).shard.query(request)
        return {
            "points": [
                {"id": _id(hit.id), "version": hit.version, "score": hit.score, "payload": hit.payload} for hit in hits
            ]
        }


_HNSW = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000}
_NAME = r"/collections/([^/]+)"
_ROUTES: list[tuple[str, str, Any]] = [
    ("GET", "/collections", Engine.listed),
    ("POST", "/collections/aliases", Engine.change_aliases),
    ("GET", "/aliases", Engine.listed_aliases),
    ("GET", f"{_NAME}/exists", Engine.exists),
    ("GET", _NAME, Engine.info),
    ("PUT", _NAME, Engine.create),
    ("DELETE", _NAME, Engine.drop),
    ("PUT", f"{_NAME}/points", Engine.upsert),
    ("POST", f"{_NAME}/points/delete", Engine.delete),
    ("PUT", f"{_NAME}/index", Engine.index),
    ("POST", f"{_NAME}/points/count", Engine.count),
    ("POST", f"{_NAME}/points/scroll", Engine.scroll),
    ("POST", f"{_NAME}/points/query", Engine.query),
    ("POST", f"{_NAME}/points/query/batch", Engine.query_batch),
    ("POST", f"{_NAME}/points", Engine.retrieve),
]


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _params(vectors: dict[str, Any]) -> Any:
    if "size" in vectors:
        kind = (vectors.get("datatype") or "float32").capitalize()
        datatype = getattr(edge.VectorStorageDatatype, kind)
        return edge.EdgeVectorParams(vectors["size"], getattr(edge.Distance, vectors["distance"]), datatype=datatype)
    return {name: _params(entry) for name, entry in vectors.items()}


def _modifier(how: dict[str, Any] | None) -> Any:
    return edge.Modifier.Idf if (how or {}).get("modifier") == "idf" else None


def _vector(vector: Any) -> Any:
    """A vector of a request: dense, sparse, a text that the server itself embeds by BM25, or several by name."""
    if not isinstance(vector, dict):
        return vector
    if vector.get("model", "").lower() == "qdrant/bm25":
        return edge.Bm25().embed_document(vector["text"])
    if vector.keys() == {"indices", "values"}:
        return edge.SparseVector(vector["indices"], vector["values"])
    return {name: _vector(each) for name, each in vector.items()}


def _query(body: dict[str, Any]) -> Any:
    """What a request, or one of its prefetches, ranks by."""
    query = body["query"]
    if "fusion" in query:
        return edge.Fusion.Rrf(k=2) if query["fusion"] == "rrf" else edge.Fusion.Dbsf()
    if "text" in query:
        return edge.TextQuery(body["using"], query["text"])
    vector = query.get("nearest", query) if isinstance(query, dict) else query
    return edge.Query.Nearest(_vector(vector), using=body.get("using"))


def _written(vector: Any) -> Any:
    """A vector of an answer."""
    if isinstance(vector, edge.SparseVector):
        return {"indices": list(vector.indices), "values": list(vector.values)}
    return {name: _written(each) for name, each in vector.items()} if isinstance(vector, dict) else vector


def _quantization(config: dict[str, Any] | None) -> Any:
    if config is None:
        return None
    [(kind, how)] = config.items()
    if kind == "scalar":
        return edge.ScalarQuantizationConfig(edge.ScalarType.Int8, always_ram=True)
    if kind == "product":
        return edge.ProductQuantizationConfig(getattr(edge.CompressionRatio, how["compression"].capitalize()))
    if kind == "turbo":
        return edge.TurboQuantQuantizationConfig(bits=getattr(edge.TurboQuantBitSize, how["bits"].capitalize()))
    return edge.BinaryQuantizationConfig(always_ram=True)


def _search_params(params: dict[str, Any]) -> edge.SearchParams:
    found = params.get("quantization")
    quantization = None if found is None else edge.QuantizationSearchParams(**_given(found))
    return edge.SearchParams(hnsw_ef=params.get("hnsw_ef"), exact=params.get("exact", False), quantization=quantization)


def _filter(body: dict[str, Any] | None) -> edge.Filter | None:
    if body is None:
        return None
    clauses = {name: body.get(name) or [] for name in ("must", "should", "must_not")}
    listed = {name: each if isinstance(each, list) else [each] for name, each in clauses.items()}
    assert not body.keys() - clauses.keys(), f"clauses of a filter that are not known here: {sorted(body)}"
    return edge.Filter(**{name: [_condition(each) for each in entries] or None for name, entries in listed.items()})


def _condition(body: dict[str, Any]) -> Any:
    kind = next((kind for kind in _CONDITIONS if kind in body), None)
    if kind is not None:
        return _CONDITIONS[kind](body[kind])
    if "match" not in body:
        return _filter(body)
    [(how, value)] = _given(body["match"]).items()
    return edge.FieldCondition(body["key"], match=_MATCHES[how](value))


_CONDITIONS: dict[str, Any] = {
    "slice": lambda part: edge.SliceCondition(total=part["total"], index=part["index"]),  # type: ignore[attr-defined]
    "has_vector": edge.HasVectorCondition,
    "has_id": edge.HasIdCondition,
    "is_empty": lambda field: edge.IsEmptyCondition(field["key"]),
    "is_null": lambda field: edge.IsNullCondition(field["key"]),
}
_MATCHES: dict[str, Any] = {
    "value": edge.MatchValue, "any": edge.MatchAny, "except": edge.MatchExcept, "text": edge.MatchText,
}  # fmt: skip


def _record(entry: Any) -> dict[str, Any]:
    return {"id": _id(entry.id), "payload": entry.payload, "vector": _written(entry.vector)}


def _id(point_id: Any) -> int | str:
    return point_id if isinstance(point_id, int) else str(point_id)
