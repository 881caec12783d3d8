"""Seed 000 from its variables to its report: every entity with every value, and the flows that fill them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.world import MISSING, PAGES, Run, is_duration, run_seed, same

MIDDLEWARE, SENSORS, TOPICS = "What is the middleware of a robot?", "Which sensors does Gazebo simulate?", "Any topics?"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    queries = [
        {"query_text": MIDDLEWARE, "expected_module": "Module 1 Ros2", "expected_chapter": "ros/basics",
         "min_similarity": 0.3, "description": "Validates basics retrieval"},
        {"query_text": SENSORS, "expected_module": "module-4-vla", "min_similarity": 0.3},
        {"query_text": TOPICS, "expected_module": "module_1-ROS2"},
    ]  # fmt: skip
    env = "SIMILARITY_THRESHOLD=0.9\nTOP_K_RESULTS=3\n"
    folder = tmp_path_factory.mktemp("seed000")
    return run_seed("000", folder, lambda _: queries, env=env, change={3: {"chapter": " "}})


def results(run: Run, text: str) -> list[dict[str, Any]]:
    """What the seed's QueryResults of a query must be."""
    [asked] = [entry for entry in run.seed["query_results"] if entry["query"]["query_text"] == text]
    found = run.found(text, [hit["chunk_id"] for hit in asked["top_results"]])
    assert len(found) == 3
    return [
        {
            "chunk_id": chunk.id, "chunk_text": chunk.text, "similarity_score": score, "source_url": chunk.url,
            "chapter_id": chunk.payload["chapter_id"], "module_name": chunk.module,
            "heading_hierarchy": [chunk.title, "Overview"], "token_count": len(chunk.text.split()),
            "chunk_index": chunk.index,
        }
        for chunk, score in found
    ]  # fmt: skip


def test_every_field_holds_the_value_that_collection_site_and_queries_give(run: Run) -> None:
    scores = [results(run, text)[0]["similarity_score"] for text in (MIDDLEWARE, SENSORS, TOPICS)]
    url = run.site
    query = {
        "query_text": "",
        "expected_module": "",
        "expected_chapter": None,
        "min_similarity": 0.3,
        "description": None,
    }
    distribution = {"min": min(scores), "max": max(scores), "avg": sum(scores) / 3, "median": sorted(scores)[1]}
    tokens = sorted(float(len(text.split())) for page in PAGES for text in page[3])
    same(run.seed, {
        "total_queries": 3,
        "passed_queries": 1,
        "failed_queries": 2,
        "pass_rate": 100 / 3,
        "query_results": [
            {"query": {"query_text": MIDDLEWARE, "expected_module": "Module 1 Ros2", "expected_chapter": "ros/basics",
                       "min_similarity": 0.3, "description": "Validates basics retrieval"},
             "top_results": results(run, MIDDLEWARE), "passed": True,
             "pass_reason": "Found relevant chunk (similarity=0.68) in expected module 'Module 1 Ros2'",
             "fail_reason": None, "best_similarity": scores[0], "module_match": True},
            {"query": {**query, "query_text": SENSORS, "expected_module": "module-4-vla"},
             "top_results": results(run, SENSORS), "passed": False, "pass_reason": None,
             "fail_reason": lambda text: text.startswith("no hit is in module 'module-4-vla'"),
             "best_similarity": scores[1], "module_match": False},
            {"query": {**query, "query_text": TOPICS, "expected_module": "module_1-ROS2", "min_similarity": 0.9},
             "top_results": results(run, TOPICS), "passed": False, "pass_reason": None,
             "fail_reason": lambda text: "is below 0.9" in text, "best_similarity": scores[2], "module_match": True},
        ],
        "coverage_report": {
            "total_sitemap_urls": 3,
            "indexed_urls": [f"{url}{PAGES[0][0]}", f"{url}{PAGES[1][0]}"],
            "missing_urls": [f"{url}{MISSING}"],
            "extra_urls": [f"{url}{PAGES[2][0]}"],
            "coverage_percentage": 200 / 3,
            "timestamp": run.is_time,
        },
        "quality_metrics": {
            "total_chunks": 4,
            "chunks_with_complete_metadata": 3,
            "metadata_completeness_rate": 75.0,
            "token_distribution": {"min": tokens[0], "max": tokens[3], "avg": sum(tokens) / 4,
                                   "median": (tokens[1] + tokens[2]) / 2},
            "avg_similarity_score": sum(scores) / 3,
            "similarity_distribution": distribution,
            "timestamp": run.is_time,
        },
        "duration_seconds": lambda value: is_duration(value) and value <= (run.ended - run.started).total_seconds(),
        "timestamp": run.is_time,
        "profile": "retrieval-pipeline-testing",
        "success_criteria": {
            "SC-002": {"field": "pass_rate", "value": 100 / 3, "gate": 90.0, "met": False},
            "SC-003": {"field": "coverage_report.coverage_percentage", "value": 200 / 3, "gate": 100.0, "met": False},
            "SC-005": {"field": "quality_metrics.metadata_completeness_rate", "value": 75.0, "gate": 100.0,
                       "met": False},
        },
        "rule_violations": lambda entries: {(entry["field"], entry["value"]) for entry in entries} == {
            ("expected_module", "module-4-vla"), ("expected_module", "module_1-ROS2")},
    })  # fmt: skip


def test_cohere_embeds_each_query_as_a_query_and_qdrant_is_only_read(run: Run) -> None:
    asked = [(body["texts"], body["input_type"]) for body in run.embedded]
    assert ([MIDDLEWARE, SENSORS, TOPICS], "search_query") in asked
    assert {body["model"] for body in run.embedded} == {"embed-english-v3.0"}
    calls = {call.replace("/collections/rag_embedding", "") for call in run.asked}
    reads = {f"POST /points{call}" for call in ("", "/count", "/scroll", "/query", "/query/batch")}
    assert calls == {"GET ", "GET /", "GET /aliases", *reads}


def test_every_run_leaves_its_folder_with_json_and_csv(run: Run) -> None:
    [kept] = (run.folder / "ragval_reports" / "book").glob("2*")
    assert json.loads((kept / "validation_report.json").read_text()) == run.report
    assert json.loads((kept / "profile_report.json").read_text()) == run.seed
    assert len((kept / "query_results.csv").read_text().splitlines()) == 1 + 3 * 3


def test_the_common_report_holds_the_same_coverage_and_quality(run: Run) -> None:
    for section in ("coverage_report", "quality_metrics"):
        assert run.report[section].items() >= run.seed[section].items()
