"""A Qdrant with a live collection behind an alias and a candidate beside it, and running a promotion there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.orchestration.promotion import AliasWriter, build_promotion_defs
from tests.orchestration.world import COVERAGE_ALONE, NAME, QUIET, World, replace_with_garbage
from tests.support.qdrant_server import QdrantStandIn

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from ragval_pipeline.suite.model import Suite

ALIAS, LIVE = "book", "book_v1"
READ_KEY, WRITE_KEY = "key-that-reads", "key-that-writes"


@dataclass
class Stage:
    """The candidate is the demo's collection, ``physical_ai_book``; ``book`` is an alias of ``book_v1``."""

    world: World
    url: str | None = None
    server: QdrantStandIn | None = None

    def suite(self, changes: Mapping[str, Any] | None = None) -> Suite:
        where = {"qdrant": {"url": self.url, "path": None, "api_key": READ_KEY}} if self.url else {}
        changes = dict(changes or {})
        gates = {**COVERAGE_ALONE, "coverage": 0.5, **changes.pop("criteria", {})}
        return self.world.suite({"criteria": gates, **where, **changes})

    @contextmanager
    def client(self) -> Iterator[QdrantClient]:
        from qdrant_client import QdrantClient

        local = {"path": str(self.world.folder / "qdrant")}
        server = {"url": self.url, "check_compatibility": False, "api_key": WRITE_KEY}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a key over http, to the loopback address
            client = QdrantClient(**(server if self.url else local))
        with closing(client):
            yield client

    def alias(self) -> str | None:
        with self.client() as client:
            return {entry.alias_name: entry.collection_name for entry in client.get_aliases().aliases}.get(ALIAS)

    def points(self) -> dict[str, list[Any]]:
        with self.client() as client:
            names = [entry.name for entry in client.get_collections().collections]
            return {name: client.scroll(name, limit=1000, with_vectors=True)[0] for name in sorted(names)}

    def point_alias(self, collection: str, name: str = ALIAS) -> None:
        with self.client() as client:
            _point(client, collection, name)

    def delete_page(self, collection: str, url: str) -> None:
        from qdrant_client import models

        with self.client() as client:
            points, _ = client.scroll(collection, limit=1000)
            gone = [point.id for point in points if (point.payload or {})["source_url"] == url]
            client.delete(collection, models.PointIdsList(points=gone))

    def replace_with_garbage(self, collection: str) -> None:
        with self.client() as client:
            replace_with_garbage(client, collection)

    def promote(
        self,
        instance: dg.DagsterInstance,
        *,
        dry_run: bool = False,
        suite: Suite | None = None,
        only_assets: list[dg.AssetKey] | None = None,
        **build: Any,
    ) -> dg.ExecuteInProcessResult:
        step = "__".join([*build.get("key_prefix", ()), NAME, "promoted_alias"])
        config = {**QUIET, "ops": {step: {"config": {"dry_run": dry_run}}}}
        return self._run("promotion", instance, config, suite, only_assets, **build)

    def roll_back(
        self, instance: dg.DagsterInstance, key_prefix: Sequence[str] = (), **config: Any
    ) -> dg.ExecuteInProcessResult:
        ops = {f"{NAME}__roll_back": {"config": config}}
        return self._run("rollback", instance, {**QUIET, "ops": ops}, key_prefix=key_prefix)

    def _run(
        self,
        job: str,
        instance: dg.DagsterInstance,
        config: dict[str, Any],
        suite: Suite | None = None,
        only_assets: list[dg.AssetKey] | None = None,
        **build: Any,
    ) -> dg.ExecuteInProcessResult:
        given = {"alias": ALIAS, "alias_writer": AliasWriter(url=None, api_key=WRITE_KEY), **build}
        defs = build_promotion_defs(suite or self.suite(), **given)
        return defs.resolve_job_def(f"{NAME}_{job}").execute_in_process(
            instance=instance,
            run_config=config,
            raise_on_error=False,
            tags={ONLY_TAG: "coverage,index"},  # the latter reads vectors
            asset_selection=only_assets,
        )


@contextmanager
def staged(world: World, kind: str) -> Iterator[Stage]:
    """A stage: ``local`` (embedded) or ``edge`` (the stand-in server)."""
    if kind == "local":
        stage = Stage(world)
        with stage.client() as client:
            _copy(client, client, LIVE)
            _point(client, LIVE)
        yield stage
        return
    with QdrantStandIn(api_key=READ_KEY, write_key=WRITE_KEY) as server, Stage(world).client() as source:
        stage = Stage(world, server.url, server)
        with stage.client() as client:
            for name in (NAME, LIVE):
                _copy(source, client, name)
            _point(client, LIVE)
        yield stage


def _copy(source: QdrantClient, target: QdrantClient, name: str) -> None:
    from qdrant_client import models

    points, _ = source.scroll(NAME, limit=1000, with_vectors=True)
    space = models.VectorParams(size=256, distance=models.Distance.COSINE)
    target.create_collection(name, vectors_config=space)
    rows = [models.PointStruct(id=point.id, vector=point.vector, payload=point.payload) for point in points]
    target.upsert(name, rows, wait=True)


def _point(client: QdrantClient, collection: str, name: str = ALIAS) -> None:
    from qdrant_client import models

    alias = models.CreateAlias(collection_name=collection, alias_name=name)
    client.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])
