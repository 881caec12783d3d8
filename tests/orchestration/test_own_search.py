"""``retrieval.retriever``: every measurement that searches as production does goes through the user's own search."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline import Retriever
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.model import Suite
from tests.orchestration.world import NAME, World

#: Searches the exported points as the embedded Qdrant would, counts its calls, and can be told to hide a page.
MODULE = """
import json, pathlib
import numpy as np
from ragval_pipeline.sources.embedders.static import StaticEmbedder

HERE = pathlib.Path(__file__).parent
POINTS = json.loads((HERE / "points.json").read_text(encoding="utf-8"))
VECTORS = np.array([point.pop("vector") for point in POINTS])
EMBEDDER = StaticEmbedder()
ASKED = []


def search(texts, top_k, filter):
    ASKED.append(texts)
    hidden = (HERE / "hidden.txt").read_text(encoding="utf-8")
    scores = VECTORS @ EMBEDDER.embed(texts, input_type="search_query").vectors[0]
    order = [place for place in np.argsort(-scores) if POINTS[place]["payload"]["source_url"] != hidden]
    return [{**POINTS[place], "score": float(scores[place])} for place in order[:top_k]]
"""


@pytest.fixture
def own(world: World, request: pytest.FixtureRequest) -> tuple[World, str]:
    """The demo with a search of its own, and the name of the module."""
    from qdrant_client import QdrantClient

    name = f"searching_for_{request.node.name}"
    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as client:
        points = client.scroll(NAME, limit=1000, with_vectors=True)[0]
    rows = [{"id": point.id, "payload": point.payload, "vector": point.vector} for point in points]
    (world.folder / "points.json").write_text(json.dumps(rows), encoding="utf-8")
    (world.folder / "hidden.txt").write_text("", encoding="utf-8")
    (world.folder / f"{name}.py").write_text(MODULE, encoding="utf-8")
    return world, name


def suite_of(world: World, name: str) -> Suite:
    return world.suite({"retrieval": {"retriever": f"{name}:search"}})


def criteria(report: Any) -> dict[str, Any]:
    return {criterion.name: criterion for criterion in report.criteria}


def test_a_run_asks_it_everywhere_and_finds_the_same_as_the_collection_gives(own: tuple[World, str]) -> None:
    world, name = own
    report = run_suite(suite_of(world, name)).report
    found = criteria(report)
    assert report.verdict == "pass"
    assert [finding.code for finding in report.findings if finding.severity != "info"] == []
    assert (found["ann_recall"].reason_code, name in found["ann_recall"].reason) == ("not_applicable", True)
    assert found["self_retrieval"].value == 1.0
    assert found["latency_p95_ms"].denominator >= 20
    assert report.latency["embedding_ms"]["n"] == 0
    assert report.latency["search_ms"]["n"] == report.latency["total_ms"]["n"]


def test_a_page_that_only_the_own_search_hides_is_dark(own: tuple[World, str]) -> None:
    world, name = own
    page = json.loads((world.folder / "points.json").read_text(encoding="utf-8"))[0]["payload"]["source_url"]
    (world.folder / "hidden.txt").write_text(page, encoding="utf-8")
    report = run_suite(suite_of(world, name), only=["queries"]).report
    dark = next(finding for finding in report.findings if finding.code == "retrieval.dark_page")
    assert dark.subjects == [page]


def test_the_retriever_asks_it_too(own: tuple[World, str], tmp_path: Path) -> None:
    world, name = own
    suite = suite_of(world, name)
    plain = Retriever(world.suite({"retrieval": {"retriever": None}})).search("robots", top_k=3, score_threshold=0.0)
    asked = Retriever(suite).search("robots", top_k=3, score_threshold=0.0)
    assert [result.chunk_id for result in asked.results] == [result.chunk_id for result in plain.results]
    assert asked.states == ["VALIDATING", "SEARCHING", "FORMATTING", "COMPLETE"]
    (world.folder / "hidden.txt").unlink()
    failed = Retriever(suite).search("robots")
    assert (failed.status, failed.states) == ("error", ["VALIDATING", "SEARCHING", "SearchError"])
    assert "FileNotFoundError" in failed.message


@pytest.mark.parametrize("score", ["inf", "nan"])
def test_scores_that_no_search_can_give_are_out_of_range_and_no_chance(own: tuple[World, str], score: str) -> None:
    world, name = own
    file = world.folder / f"{name}.py"
    code = file.read_text(encoding="utf-8")
    file.write_text(code.replace('"score": float(scores[place])', f'"score": float("{score}")'), encoding="utf-8")
    report = run_suite(suite_of(world, name), only=["queries"]).report
    codes = {finding.code for finding in report.findings}
    assert "retrieval.invalid_order" in codes
    assert "retrieval.nondeterministic" not in codes
    assert criteria(report)["determinism"].value == 1.0
    assert report.verdict == "fail"


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [True, False])
def test_a_search_that_loses_the_filter_leaks_between_partitions(own: tuple[World, str], *, keeps: bool) -> None:
    world, name = own
    module = (world.folder / f"{name}.py").read_text(encoding="utf-8")
    kept = 'all(POINTS[place]["payload"].get(path) == value for path, value in (filter or {}).items())'
    module = module.replace("!= hidden]", f"!= hidden and {kept}]") if keeps else module
    (world.folder / f"{name}.py").write_text(module, encoding="utf-8")
    suite = world.suite({"retrieval": {"retriever": f"{name}:search"}, "qdrant": {"partition_by": "module_name"}})
    report = run_suite(suite, only=["queries"]).report
    leaks = [finding for finding in report.findings if finding.code == "partition.leak"]
    assert bool(leaks) is not keeps
    assert all(finding.scope == "retrieval.retriever" and finding.count for finding in leaks)
