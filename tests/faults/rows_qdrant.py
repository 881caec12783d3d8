"""Faults of Qdrant: refusals, limits, answers of another shape, and a collection that changes during the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from qdrant_client import QdrantClient, models

from ragval_pipeline.sources.stores.qdrant.connect import open_client
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.testing.services import Call, acting_reader
from tests.faults.fault import Fault
from tests.faults.stage import NAME, Stage
from tests.support.http_host import refused_url

SEARCHES = ("/query", "/query/batch")
EXPIRED, OTHERS = "token-expired-1", "token-of-another-1"


def server(
    *kinds: str, path: str | tuple[str, ...] = "", times: int = 1_000_000, **keys: Any
) -> Callable[[Stage], Any]:
    """A server that fails so; ``keys`` are edited into the suite."""

    def inject(stage: Stage) -> None:
        running = stage.qdrant()
        for kind in kinds:
            running.fail(kind, times=times, path=path)
        stage.edit(**keys)

    return inject


def created(**body: Any) -> Callable[[Stage], Any]:
    """A server whose collection was created so."""
    return lambda stage: stage.qdrant(create=body)


def strict(**limits: Any) -> Callable[[Stage], Any]:
    """A collection in strict mode, after it was filled."""

    def inject(stage: Stage) -> None:
        stage.qdrant().engine.collections[NAME].strict = {"enabled": True, **limits}

    return inject


def keyed(key: str | None, **arguments: Any) -> Callable[[Stage], Any]:
    """A server that wants a key, and a suite that sends this one."""

    def inject(stage: Stage) -> None:
        stage.qdrant(**{"api_key": "the-right-key", **arguments})
        stage.edit(qdrant={"api_key": key})

    return inject


def place(**keys: Any) -> Callable[[Stage], Any]:
    """Another place of Qdrant."""
    return lambda stage: stage.edit(qdrant={"path": None, "timeout_s": 1, **keys})


def stored(change: Callable[[models.Record], tuple[Any, Any]], share: int = 1) -> Callable[[Stage], Any]:
    """Points that hold another vector and payload; every ``share``-th one."""

    def act(client: QdrantClient) -> None:
        points, _ = client.scroll(NAME, limit=1000, with_vectors=True)
        made = ((point.id, *change(point)) for point in points[::share])
        client.upsert(
            NAME, [models.PointStruct(id=one, vector=vector, payload=payload) for one, vector, payload in made]
        )

    return lambda stage: stage.change(act)


def meanwhile(act: Callable[[Any], Any]) -> Callable[[Stage], Any]:
    """A collection to which something happens once its points were read."""

    def inject(stage: Stage) -> None:
        stage.qdrant()

        def strike(name: str) -> None:
            if name == "coverage_report":
                stage.at_step = None
                with open_client(load_suite(stage.suite).qdrant) as client:
                    act(client)

        stage.at_step = strike

    return inject


def broken_meanwhile(kind: str, call: Call = "search", after: int = 0) -> Callable[[Stage], Any]:
    """A server that fails from a call of the run on."""

    def inject(stage: Stage) -> None:
        running = stage.qdrant()
        stage.services.append(acting_reader(call, lambda: running.fail(kind), after=after))

    return inject


def rewrite(client: QdrantClient, **changes: Any) -> None:
    """As many points under the same ids and times, with another text."""
    points, _ = client.scroll(NAME, limit=3, with_vectors=True)
    rows = [
        models.PointStruct(id=one.id, vector=one.vector, payload={**(one.payload or {}), **changes}) for one in points
    ]
    client.upsert(NAME, rows, wait=True)


def replace_one(client: QdrantClient) -> None:
    [old], _ = client.scroll(NAME, limit=1, with_vectors=True)
    client.delete(NAME, [old.id])
    client.upsert(NAME, [models.PointStruct(id=7, vector=old.vector, payload=old.payload)])


def delete_some(client: QdrantClient) -> None:
    client.delete(NAME, [point.id for point in client.scroll(NAME, limit=12)[0]])


def locked(stage: Stage) -> None:
    stage.stack.enter_context(open_client(load_suite(stage.suite).qdrant))


def twice(stage: Stage) -> None:
    collection = stage.qdrant(create={"sharding_method": "custom"}).engine.collections[NAME]
    collection.counted_twice = 3


fails = partial(Fault, where="Qdrant", code=3, verdict="error")
moves = partial(Fault, where="collection, meanwhile", code=4, verdict="not_measured")
passes = partial(Fault, where="Qdrant", code=0, verdict="pass", words="Writing the report")

ROWS = [
    fails("nothing listens", inject=lambda stage: place(url=refused_url())(stage), words="refused the connection"),
    fails("a name that does not resolve", inject=place(url="http://no-such-host.invalid:6333"), words="does not resolve"),
    fails("no embedded folder", inject=lambda stage: stage.edit(qdrant={"path": "nope"}), words="no embedded Qdrant"),
    fails("a folder that another process holds", inject=locked, words="open in another process"),
    fails("no such collection", inject=lambda stage: stage.edit(qdrant={"collection": "physical_ai_bok"}),
          words="Did you mean physical_ai_book"),
    *(fails(f"status {status}", inject=server(str(status)), words=f"{status}", slow=status not in {401, 503})
      for status in (400, 401, 403, 408, 500, 502, 503, 504)),
    fails("status 429 for ever", inject=server("429"), words="limits requests", slow=True),
    fails("JSON nested 100,000 times", inject=server("nested"), words="not Qdrant's", slow=True),
    fails("a redirect", inject=server("302"), words="redirects", slow=True),
    fails("a sign-in page", inject=server("html"), words="not Qdrant's"),
    fails("a 404 of something else", inject=server("html404"), words="which Qdrant does not do"),
    fails("an answer that is slow", inject=server("slow", qdrant={"timeout_s": 1}), words="did not answer in time"),
    fails("an answer that breaks off", inject=server("reset"), words="broke off|connection was closed"),
    fails("half an answer", inject=server("truncated"), words="not Qdrant's", slow=True),
    fails("JSON of another shape", inject=server("schema"), words="not Qdrant's"),
    fails("no result", inject=server("null"), words="not Qdrant's", slow=True),
    fails("a scroll in a circle", inject=server("circle", path="/scroll"), words="same page of points"),
    fails("hits without a score", inject=server("no score", path=SEARCHES), words="without a score", only="queries"),
    Fault("scores that are no numbers", "Qdrant", server("nan score", path=SEARCHES), 1, "fail", "query.failed",
          only="queries"),
    fails("searches that fail", inject=server("500", path=SEARCHES), words="status 500", only="queries"),
    fails("pages that fail", inject=server("503", path="/scroll"), words="status 503", slow=True),
    fails("counts that fail", inject=server("503", path="/count"), words="status 503", slow=True),
    Fault("a vector that is misspelt", "Qdrant", lambda stage: (stage.qdrant(), stage.edit(qdrant={"vector_name": "dens"})), 2, None,
          "has no vector dens", only="queries"),
    fails("a key that is repeated in an error", inject=lambda stage: (
        stage.qdrant(api_key="canary-of-qdrant").fail("echo"), stage.edit(qdrant={"api_key": "canary-of-qdrant"})),
        words=r"no shard for \*\*\*"),
    fails("no key", inject=keyed(None), words="refused the key.*Must provide an API key"),
    fails("a wrong key", inject=keyed("a-wrong-key"), words="refused the key.*qdrant.api_key", slow=True),
    fails("an expired token", inject=keyed(EXPIRED, tokens={EXPIRED: "expired"}), words="ExpiredSignature.*new token"),
    fails("a token for another collection", inject=keyed(OTHERS, tokens={OTHERS: "another"}),
          words=f"does not let the key do this.*Access to collection {NAME}"),
    fails("a key that no header can carry", inject=lambda stage: place(url="http://127.0.0.1:9", api_key="a b")(stage),
          words="could not be sent the key"),
    fails("TLS where none is spoken", inject=lambda stage: place(url=stage.qdrant().url.replace("http:", "https:"))(stage),
          words="TLS"),
    fails("a rate limit", inject=strict(read_rate_limit=2), words="limits requests"),
    passes("a 503 that passes", inject=server("503", times=2, retry={"max": 3})),
    passes("a 429 that passes", inject=server("429", times=2, retry={"max": 3}), slow=True),
    passes("answers that break off and come again", inject=server("reset", times=2, path="/scroll", retry={"max": 3}), slow=True),
    passes("aliases that the key may not list", inject=server("403", path="/aliases")),
    passes("a version that a proxy hides", inject=server("html404", times=1, path="//"), slow=True),
    passes("strict mode with pages of 5", inject=strict(max_query_limit=5)),
    passes("strict mode with pages of 5, for vectors", inject=strict(max_query_limit=5), only="vectors", slow=True),
    passes("strict mode without exact counts", inject=strict(search_allow_exact=False)),
    passes("a gRPC port that is closed", inject=lambda stage: (
        stage.qdrant(), stage.edit(qdrant={"prefer_grpc": True, "grpc_port": 9}))),
    fails("strict mode below top_k", inject=strict(max_query_limit=3), words="Limit exceeded 5 > 3.*Lower retrieval.top_k",
          only="queries"),
    passes("strict mode below the pages of a ranking", inject=strict(max_query_limit=12), only="queries"),
    Fault("an empty collection", "Qdrant", lambda stage: stage.change(lambda client: delete_all(client)), 1, "fail",
          "index.empty"),
    Fault("ids under two shard keys", "Qdrant", twice, 0, "pass", "several shard keys"),
    Fault("texts of odd characters", "points", stored(lambda point: (point.vector, {
        **(point.payload or {}), "source_url": f"{(point.payload or {})['source_url']}\x1b\x00\u202e"}), 9), 0, "pass",
        "Writing the report", only="queries"),
    Fault("addresses that are half an IPv6 address", "points", stored(lambda point: (point.vector, {
        **(point.payload or {}), "source_url": "http://[::1"}), 9), 1, "fail", "coverage.orphan_page",
        only="coverage,integrity,queries"),
    Fault("a collection without dense vectors", "Qdrant", lambda stage: stage.change(multivectors), 1, "fail",
          r"has no dense vector, only without a name \(multivector\)", only="queries"),
    Fault("payloads that are empty", "points", stored(lambda point: (point.vector, {})), 1, "fail", "payload|coverage",
          only="coverage,metadata"),
    Fault("numbers where texts should be", "points", stored(lambda point: (point.vector, dict.fromkeys(
        point.payload or {}, 5))), 1, "fail", "payload|coverage", only="coverage,metadata", slow=True),
    Fault("a payload of 200 levels", "points", stored(lambda point: (point.vector, {
        **(point.payload or {}), "chapter_id": deep(200)}), 9), 1, "fail", "payload", only="coverage,metadata"),
    Fault("a chunk of 5 MB", "points", stored(lambda point: (point.vector, {
        **(point.payload or {}), "chunk_text": "word " * 1_000_000}), 100), 1, "fail", "integrity|chunk",
        only="integrity,chunks", seconds=60, mib=700, slow=True),
    Fault("vectors of zeros", "points", stored(lambda point: ([0.0] * 256, point.payload)), 1, "fail", "vector.zero",
          only="vectors,queries"),
    moves("12 points deleted", inject=meanwhile(delete_some), words="12 of them not what was read"),
    moves("a point replaced by another", inject=meanwhile(replace_one), words="2 of them not what was read"),
    moves("points embedded again", inject=meanwhile(partial(rewrite, embedded_at="2026-11-22T10:00:00Z")),
          words="3 of them not what was read", slow=True),
    moves("points rewritten under their ids and times", inject=meanwhile(partial(rewrite, chunk_text="x")),
          words="not what was read"),
    fails("the collection vanishes", inject=meanwhile(lambda client: client.delete_collection(NAME)),
          words="existed when the run began"),
    fails("the server goes away before the searches", inject=broken_meanwhile("reset"), words="broke off|connection was closed", only="queries"),
    fails("the server fails on the tenth search", inject=broken_meanwhile("503", after=9), words="503", only="queries"),
    fails("the server fails on the second read", inject=broken_meanwhile("503", call="pages", after=1), words="503", slow=True),
    fails("the key is taken back", inject=broken_meanwhile("401", after=4), words="refused the key", only="queries"),
]  # fmt: skip


def delete_all(client: QdrantClient) -> None:
    client.delete(NAME, [point.id for point in client.scroll(NAME, limit=1000)[0]])


def multivectors(client: QdrantClient) -> None:
    """Replace the collection by one that holds several vectors per point."""
    points = client.scroll(NAME, limit=1000, with_vectors=True)[0]
    client.delete_collection(NAME)
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    client.create_collection(
        NAME, models.VectorParams(size=256, distance=models.Distance.COSINE, multivector_config=several)
    )
    client.upsert(
        NAME, [models.PointStruct(id=point.id, vector=[point.vector], payload=point.payload) for point in points]
    )


def deep(levels: int) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = {"in": value}
    return value
