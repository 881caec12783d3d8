from __future__ import annotations

import hashlib

import pytest

from ragval_pipeline.findings.factory import make_finding
from tests.reporting import factory
from tests.reporting.profiles.world import broken, rendered, snapshot

PROFILE = "rag-retrieval-testing"
TEXT = "A robot moves."
IDS = [f"00000000-0000-0000-0000-{rank:012d}" for rank in range(1, 13)]


def stored(number=1, **more):
    return {
        "content": TEXT, "url": factory.PAGES[1], "chunk_id": f"chunk-{number}", "source_title": "ROS 2",
        "text_hash": hashlib.sha256(TEXT.encode()).hexdigest(), "model": "embed-multilingual-v3.0",
        "created_at": "2025-12-20T08:00:00Z", **more,
    }  # fmt: skip


def render(*queries, **more):
    environment = {"embedding_model": "embed-multilingual-v3.0"}
    run = factory.report(query_results=list(queries) or [factory.query("q1", "How?", 0.6)], environment=environment)
    return rendered(factory.bundle(run, **more), PROFILE)


def twelve(folder, **changes):
    points = {name: stored(number) for number, name in enumerate(IDS, 1)}
    return snapshot(folder, PROFILE, {**points, **changes})


def test_matches_scores_and_metadata_have_equal_length_and_scores_descend(tmp_path):
    report = render(manifest=twelve(tmp_path))
    [result] = report["retrieval_results"]
    assert len(result["matches"]) == len(result["scores"]) == len(result["metadata_list"]) == 3
    assert result["scores"] == sorted(result["scores"], reverse=True)
    assert broken(report, "retrieval_results[0]") == set()


def test_scores_that_rise_break_the_rule():
    hits = [factory.hit(1, 0.4), factory.hit(2, 0.6)]
    report = render(factory.query("q1", "How?", 0.6, hits=hits))
    assert broken(report, "retrieval_results[0]") == {"scores"}
    assert report["retrieval_results"][0]["scores"] == [0.4, 0.6]


def test_retrieval_time_is_seconds():
    query = factory.query("q1", "How?", 0.6, embedding_ms=250.0, search_time_ms=750.0)
    assert render(query)["retrieval_results"][0]["retrieval_time"] == 1.0


def test_chunks_searched_are_those_of_the_collection_and_not_the_hits(tmp_path):
    [result] = render(manifest=twelve(tmp_path))["retrieval_results"]
    assert (result["total_chunks_searched"], len(result["matches"])) == (12, 3)


def test_nothing_found_is_a_result_without_matches(tmp_path):
    report = render(factory.query("q1", "How?", None, passed=False), manifest=twelve(tmp_path))
    [result] = report["retrieval_results"]
    assert (result["matches"], result["scores"], result["metadata_list"]) == ([], [], [])
    assert result["total_chunks_searched"] == 12


def test_a_query_keeps_its_time_else_has_that_of_its_search_else_the_runs():
    own = factory.query("q1", "How?", 0.6, given={"created_at": "2025-01-01T00:00:00Z"})
    asked_at = {"q1": "2026-01-01T00:00:00Z", "q2": "2026-01-02T00:00:00Z"}
    report = render(own, factory.query("q2", "Why?", 0.6), factory.query("q3", "When?", 0.6), asked_at=asked_at)
    times = [result["query"]["created_at"] for result in report["retrieval_results"]]
    assert times == ["2025-01-01T00:00:00Z", "2026-01-02T00:00:00Z", report["timestamp"]]


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({}, set()),
        ({"content": "Other words."}, {"text_hash_matches"}),
        ({"model": "embed-english-v2.0"}, {"model"}),
        ({"text_hash": None}, set()),
    ],
)
def test_the_embedding_record_is_held_to_text_and_model(tmp_path, change, fields):
    findings = [make_finding("text.hash_mismatch", [IDS[0]])] if "content" in change else []
    report = render(manifest=twelve(tmp_path, **{IDS[0]: stored(1, **change)}), findings=findings)
    assert broken(report, "embeddings[0]") == fields
    assert report["embeddings"][0]["dimension"] == 1024


def test_a_chunk_id_that_two_points_bear_is_named_once(tmp_path):
    report = render(manifest=twelve(tmp_path, **{IDS[1]: stored(1)}))
    assert broken(report, "retrieval_results[0].metadata_list[0]") == set()
    assert broken(report, "retrieval_results[0].metadata_list[1]") == {"chunk_id"}
    twice = render(*(factory.query(name, "How?", 0.6) for name in ("q1", "q2")), manifest=twelve(tmp_path / "b"))
    assert twice["rule_violations"] == []


@pytest.mark.parametrize(
    ("change", "fields"),
    [({"chunk_id": None}, {"chunk_id"}), ({"chunk_id": " "}, {"chunk_id"}), ({"chunk_id": 7}, set())],
)
def test_a_chunk_id_that_is_missing_or_blank_breaks_the_rule(tmp_path, change, fields):
    report = render(manifest=twelve(tmp_path, **{IDS[0]: stored(1, **change)}))
    assert broken(report, "retrieval_results[0].metadata_list[0]") == fields


@pytest.mark.parametrize(("url", "fields"), [("localhost", {"url"}), (None, {"url"}), ("http://localhost/a", set())])
def test_a_url_that_is_none_breaks_the_rule(tmp_path, url, fields):
    query = factory.query("q1", "How?", 0.6, hits=[factory.hit(1, 0.6, source_url=url)])
    report = render(query, manifest=twelve(tmp_path))
    assert broken(report, "retrieval_results[0].metadata_list[0]") == fields


@pytest.mark.parametrize(("text", "fields"), [("x" * 1000, set()), ("x" * 1001, {"text"}), (" ", {"text"})])
def test_a_query_has_1_to_1000_characters(text, fields):
    assert broken(render(factory.query("q1", text, 0.6)), "retrieval_results[0].query") == fields


def test_content_that_is_empty_breaks_the_rule():
    query = factory.query("q1", "How?", 0.6, hits=[factory.hit(1, 0.6, chunk_text=" ")])
    assert broken(render(query), "retrieval_results[0].matches[0]") == {"content"}


def test_success_criteria_are_percent_and_seconds():
    criteria = [
        factory.criterion("content_integrity", 0.985, 0.99, required=True),
        factory.criterion("retrieved_metadata_completeness", 1.0, 1.0, required=True),
        factory.criterion("latency_p95_ms", 1500.0, 2000.0, required=True),
        factory.criterion("recall_at_5", 0.9, 0.9, required=True),
    ]
    report = rendered(factory.bundle(factory.report("fail", criteria=criteria)), PROFILE)
    stands = {name: (entry["value"], entry["gate"], entry["met"]) for name, entry in report["success_criteria"].items()}
    assert stands == {
        "integrity": (98.5, 99.0, False),
        "metadata_completeness": (100.0, 100.0, True),
        "performance": (1.5, 2.0, True),
        "top_k_accuracy": (90.0, 90.0, True),
    }
    assert report["passed"] is False
