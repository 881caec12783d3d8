"""One index in a file, in an embedded Qdrant and behind a server: where it is kept changes no finding."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from qdrant_client import QdrantClient, models
from upath import UPath

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.run import Run
from ragval_pipeline.sources.stores.export import export_points
from ragval_pipeline.sources.stores.opening import opened_store
from ragval_pipeline.suite.load import load_suite, variant_of
from tests.orchestration.world import NAME, World, a_page, copy_collection
from tests.support.qdrant_server import qdrant_stand_in

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_gx")]


def spoil(world: World) -> None:
    """A page without chunks, a text cut off, a field gone, a vector of another text."""
    world.delete_page(a_page(world))
    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as client:
        points, _ = client.scroll(NAME, limit=1000, with_vectors=True)
        cut, bare, other, owner = points[0], points[5], points[9], points[14]
        client.set_payload(NAME, {"chunk_text": (cut.payload or {})["chunk_text"][:40]}, [cut.id])
        client.delete_payload(NAME, ["module_name"], [bare.id])
        client.update_vectors(NAME, [models.PointVectors(id=other.id, vector=owner.vector)])  # type: ignore[arg-type]


def findings(run: Run) -> list[str]:
    """The findings as the report writes them, but for those of the store itself."""
    told = json.loads((UPath(run.folder) / "validation_report.json").read_text(encoding="utf-8"))["findings"]
    return [json.dumps(entry) for entry in told if not entry["code"].startswith("index.")]


def test_a_file_an_embedded_index_and_a_server_have_the_same_findings(world: World) -> None:
    spoil(world)
    suite = world.suite({"latency": "off", "retrieval": {"repeats": 1}})
    file = world.folder / "points.parquet"
    with opened_store(suite.qdrant, policy=suite.retry) as reader_of:
        export_points(reader_of, UPath(file))
    embedded = findings(run_suite(suite))
    codes = {json.loads(entry)["code"] for entry in embedded}
    assert {"coverage.missing_page", "payload.missing_field"} <= codes
    assert any(code.startswith("vector.") for code in codes), codes
    of_file: dict[str, Any] = {"points": str(file), "qdrant": {"collection": NAME}}
    assert findings(run_suite(variant_of(suite, of_file))) == embedded
    with qdrant_stand_in() as server, closing(QdrantClient(url=server.url, check_compatibility=False)) as client:
        copy_collection(world, client)
        served = variant_of(load_suite(world.folder / "ragval.yaml"), {"qdrant": {"url": server.url}})
        assert findings(run_suite(served)) == embedded
