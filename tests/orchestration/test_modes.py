"""The judged way to search is the suite's mode, whatever it is, and each other way is compared with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from qdrant_client import QdrantClient, models

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.measuring.preflight import check_before_any_call
from ragval_pipeline.orchestration.report_page import metadata_of
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.outline import mode_words
from ragval_pipeline.sources.embedders.sparse import word_counts
from ragval_pipeline.sources.search.retriever import Retriever
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.testing.defects.planters.sparse import weighted
from tests.orchestration.world import NAME, World
from tests.support.cohere_server import CohereStandIn


def with_words(world: World, *, foreign: bool = False, dense: bool = True) -> None:
    """Give the demo's points sparse vectors of fastembed's BM25, or foreign ones, and a scored text index."""
    client = QdrantClient(path=str(world.folder / "qdrant"))
    records, _ = client.scroll(NAME, limit=1000, with_vectors=True)
    client.delete_collection(NAME)
    client.create_collection(
        NAME,
        vectors_config=models.VectorParams(size=256, distance=models.Distance.COSINE) if dense else {},
        sparse_vectors_config={"words": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    client.create_payload_index(NAME, "chunk_text", models.TextIndexParams(type="text", scoring=True))  # type: ignore[arg-type]
    counts = dict(word_counts())["english"]([str((record.payload or {})["chunk_text"]) for record in records])
    points = []
    for record, words in zip(records, counts, strict=True):
        row = {index // 7: weight * 0.37 for index, weight in words.items()} if foreign else weighted(words)
        vector: Any = {"words": models.SparseVector(indices=list(row), values=list(row.values()))}
        if dense:
            vector[""] = record.vector
        points.append(models.PointStruct(id=record.id, vector=vector, payload=record.payload))
    client.upsert(NAME, points)
    client.close()


def with_thresholds(world: World, threshold: float) -> None:
    """Replace the thresholds of the negative questions, which are cosine similarities."""
    file = Path(world.folder / "queries.yaml")
    queries = yaml.safe_load(file.read_text(encoding="utf-8"))
    changed = [{**query, "min_similarity": threshold} if query.get("negative") else query for query in queries]
    file.write_text(yaml.safe_dump(changed), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "fusion", "threshold"),
    [("sparse", "rrf", 40.0), ("hybrid", "rrf", 1.01), ("hybrid", "dbsf", 2.01), ("text", "rrf", 40.0)],
)
def test_the_mode_is_judged_and_the_others_are_compared(
    mode: str, fusion: str, threshold: float, world: World, without_gx: None
) -> None:
    with_words(world, dense=mode != "sparse")
    with_thresholds(world, threshold)
    also = ["bm25", *([] if mode == "sparse" else {"dense", "sparse", "hybrid", "text"} - {mode})]
    retrieval = {"mode": mode, "fusion": fusion, "also": also, "min_similarity": 5}
    suite = world.suite({"retrieval": retrieval})
    report = run_suite(suite).report
    assert report.criterion("query_pass_rate").verdict == "met"
    assert report.criterion("determinism").value == 1.0
    assert report.criterion("latency_p95_ms").verdict == "met"
    assert (report.criterion("self_retrieval").value or 0) > 0.9
    assert report.criterion("ann_recall").reason_code == "not_applicable"
    assert set(report.retrieval_metrics.by_mode) == set(also)
    assert report.retrieval_metrics.not_compared == {}
    assert [finding.code for finding in report.findings if finding.severity == "error"] == []
    found = Retriever(suite).nearest("What is a gear?", top_k=3)
    assert (found.status, len(found.results)) == ("success", 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("retrieval", "problem"),
    [
        ({"also": ["hybrid"]}, "has no sparse vector for a hybrid search"),
        ({"mode": "text", "min_similarity": 5}, "has no scored text index on chunk_text"),
    ],
)
def test_a_collection_that_cannot_be_searched_so_is_refused(
    retrieval: dict[str, Any], problem: str, world: World
) -> None:
    with pytest.raises(SuiteError, match=problem) as refused:
        run_suite(world.suite({"retrieval": retrieval}))
    assert refused.value.remedy


@pytest.mark.slow
def test_foreign_sparse_vectors_need_the_function_that_makes_them(world: World) -> None:
    with_words(world, foreign=True)
    with pytest.raises(SuiteError, match=r"words are not fastembed's BM25") as refused:
        run_suite(world.suite({"retrieval": {"also": ["hybrid"]}}))
    assert refused.value.key == "retrieval.sparse.model"


def suite_of(retrieval: dict[str, Any], queries: list[Any], **more: Any) -> Suite:
    qdrant = {"url": "http://q", "collection": "c"}
    written = {"suite": "book", "qdrant": qdrant, "embedding": {"provider": "static"}, "retrieval": retrieval}
    return Suite.model_validate({**written, "queries": queries, **more})


def test_a_threshold_of_cosine_similarities_judges_no_other_scores() -> None:
    scored: list[Any] = ["What is a gear?"]
    expecting: list[Any] = [{"query_text": "What is a gear?", "expected_keywords": ["gear"]}]
    for retrieval, queries in (
        ({}, scored),
        ({"mode": "hybrid", "min_similarity": 0.6}, scored),
        ({"mode": "hybrid"}, expecting),
    ):
        check_before_any_call(suite_of(retrieval, queries), only={"queries"})
    for queries in (scored, [{**expecting[0], "negative": True}]):
        with pytest.raises(SuiteError, match="scores of mode hybrid are not cosine similarities"):
            check_before_any_call(suite_of({"mode": "hybrid"}, queries), only={"queries"})
    gate = {"criteria": {"relevance_rate": 0.8}}
    with pytest.raises(SuiteError, match="relevance_rate is a gate"):
        check_before_any_call(suite_of({"mode": "sparse"}, expecting, **gate), only={"queries"})


@pytest.mark.parametrize(
    ("retrieval", "problem"),
    [
        ({"mode": "hybrid", "also": ["hybrid"]}, "which mode judges already"),
        ({"mode": "text", "retriever": "mine:search"}, "mode cannot be used with retriever"),
        ({"min_similarity": 7}, "less than or equal to 1 with mode dense"),
    ],
)
def test_settings_that_contradict_the_mode_are_refused(retrieval: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        suite_of(retrieval, [])


def test_scores_above_one_are_thresholds_only_of_other_modes() -> None:
    queries: list[Any] = [{"query_text": "What is a gear?", "min_similarity": 12}]
    check_before_any_call(suite_of({"mode": "sparse"}, queries), only={"queries"})
    with pytest.raises(SuiteError, match="less than or equal to 1"):
        check_before_any_call(suite_of({}, queries), only={"queries"})


@pytest.mark.slow
def test_a_filter_of_a_query_is_set_in_every_search_and_what_it_leaves_out_is_told(
    world: World, without_gx: None
) -> None:
    client = QdrantClient(path=str(world.folder / "qdrant"))
    ids = [record.id for record in client.scroll(NAME, limit=1000)[0]]
    client.set_payload(NAME, {"lang": "en"}, points=ids)
    client.close()
    file = Path(world.folder / "queries.yaml")
    queries = yaml.safe_load(file.read_text(encoding="utf-8"))
    kept = [query for query in queries if query.get("relevant_urls")]
    filters: list[dict[str, str]] = [{"lang": "en"}, {"lang": "de"}, {"language": "en"}]
    asked = [{**kept[number], "id": f"f{number}", "filter": wanted} for number, wanted in enumerate(filters)]
    file.write_text(yaml.safe_dump(asked), encoding="utf-8")
    report = run_suite(world.suite({"criteria": {"coverage": None}}), only=["queries", "latency"]).report
    fits, other, unknown = report.query_results
    assert (fits.passed, other.passed, unknown.passed) == (True, False, False)
    assert (fits.returned_k, other.returned_k, unknown.returned_k) == (5, 0, 0)
    assert "have another `lang`" in str(other.fail_reason)
    assert "lack `language`" in str(unknown.fail_reason)
    assert report.retrieval_metrics.by_mode["bm25"]["answered"].value == pytest.approx(1 / 3)
    assert report.criterion("latency_p95_ms").value is not None


@pytest.mark.slow
def test_hits_in_a_rerankers_order_are_compared_and_its_cost_is_told(world: World, without_gx: None) -> None:
    with CohereStandIn() as cohere:
        rerank = {"model": "rerank-v4.0-fast", "top_n": 20, "base_url": cohere.url, "api_key": "k-12345678"}
        suite = world.suite({"retrieval": {"also": ["bm25", "rerank"], "rerank": rerank}, "latency": "off"})
        report = run_suite(suite, only=["queries"]).report
        assert report.retrieval_metrics.by_mode["rerank"]["answered"].n == 20
        assert (report.cost.rerank_calls, report.cost.rerank_searches) == (20, 20.0)
        again = run_suite(suite, only=["queries"]).report
        assert (again.cost.rerank_calls, len(cohere.requests)) == (0, 20)
        cohere.fail("500")
        dead = world.suite({"retrieval": {"rerank": {**rerank, "model": "another"}}, "retry": {"max": 0}})
        run = run_suite(dead, only=["queries"])
    report = run.report
    assert list(report.retrieval_metrics.by_mode) == ["bm25"]
    assert "answered HTTP 500" in report.retrieval_metrics.not_compared["rerank"]
    words = mode_words(report)
    assert words[0].startswith("Plain BM25 answers")
    assert words[1].startswith("Your search, reranked was not compared: reranker: Cohere at")
    assert metadata_of(report, str(run.folder))["answered_bm25"].value > 0.5
    assert report.criterion("query_pass_rate").verdict == "met"


def test_a_query_cannot_ask_for_what_the_suite_leaves_out() -> None:
    queries: list[Any] = [{"query_text": "What is a gear?", "filter": {"lang": "de", "live": True}}]
    qdrant = {"url": "http://q", "collection": "c", "filter": {"lang": "en"}}
    with pytest.raises(SuiteError, match=r"no point that qdrant\.filter lets pass has lang: de"):
        check_before_any_call(suite_of({}, queries, qdrant=qdrant), only={"queries"})
    check_before_any_call(suite_of({}, queries), only={"queries"})


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sparse", "hybrid"])
def test_a_repair_that_moves_no_hit_is_tried_out_in_any_mode(mode: str, world: World, without_gx: None) -> None:
    with_words(world, dense=mode != "sparse")
    with_thresholds(world, 40.0 if mode == "sparse" else 1.01)
    file = Path(world.folder / "queries.yaml")
    queries = yaml.safe_load(file.read_text(encoding="utf-8"))
    gone = {
        **next(query for query in queries if query.get("relevant_urls")),
        "id": "gone",
        "expected_keywords": ["the"],
    }
    gone["relevant_urls"] = [f"{gone['relevant_urls'][0]}-of-old"]
    file.write_text(yaml.safe_dump([*queries, gone]), encoding="utf-8")
    retrieval = {"mode": mode, "also": [], "min_similarity": 5}
    report = run_suite(world.suite({"retrieval": retrieval}), only=["queries"]).report
    [dead] = [finding for finding in report.findings if finding.code == "query.dead_target"]
    assert dead.would_clear["query.failed"].names == ("gone",)
