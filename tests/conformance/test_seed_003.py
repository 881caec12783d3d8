"""Seed 003 from its variables to its report: searches with a threshold, checked by keywords."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.world import KEY, TIME, Run, is_duration, run_seed, same

MIDDLEWARE, SENSORS, CUP = (
    "What is the middleware of a robot?",
    "Which sensors does Gazebo simulate?",
    "Who won the cup?",
)
WHOLE_WAY = ["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    queries = [
        {"text": MIDDLEWARE, "score_threshold": 0.5, "top_k": 2, "expected_keywords": ["Middleware", "bot"]},
        {"text": SENSORS, "score_threshold": 0.2, "expected_keywords": ["lidar"]},
        {"text": CUP, "expected_keywords": ["cup"]},
    ]
    return run_seed("003", tmp_path_factory.mktemp("seed003"), lambda _: queries)


def results(run: Run, response: dict[str, Any], threshold: float) -> list[dict[str, Any]]:
    """What the seed's SearchResults of a query must be: all that reach the threshold, best first."""
    found = run.found(response["query"], [hit["chunk_id"] for hit in response["results"]])
    reaching = [
        chunk.id for chunk, score in run.found(response["query"], _all(run, response["query"])) if score >= threshold
    ]
    assert {chunk.id for chunk, _ in found} == set(reaching)
    return [
        {
            "chunk_id": chunk.id, "content": chunk.text, "source_url": chunk.url, "source_title": chunk.title,
            "chunk_index": chunk.index, "token_count": len(chunk.text.split()), "similarity_score": score,
            "embedded_at": TIME,
        }
        for chunk, score in found
    ]  # fmt: skip


def _all(run: Run, query: str) -> list[str]:
    [asked] = [entry for entry in run.report["query_results"] if entry["query"]["query_text"] == query]
    return [hit["chunk_id"] for hit in asked["top_results"]]


def test_every_field_holds_the_value_that_collection_and_queries_give(run: Run) -> None:
    report = run.seed
    first, second, _ = report["responses"]
    best = [run.found(query, _all(run, query))[0][1] for query in (MIDDLEWARE, SENSORS, CUP)]
    answered = {"search_time_ms": is_duration, "status": "success", "message": "", "states": WHOLE_WAY}
    one, two = results(run, first, 0.5), results(run, second, 0.2)
    done = {"execution_time_ms": is_duration}
    same(report, {
        "profile": "retrieval-pipeline",
        "timestamp": run.is_time,
        "passed": False,
        "config": {
            "qdrant_url": lambda url: url.startswith("http://127.0.0.1:"), "qdrant_api_key": "not shown",
            "collection_name": "Physical-AI-Book", "cohere_api_key": "not shown",
            "embedding_model": "embed-english-v3.0", "vector_size": 1024, "default_top_k": 5,
            "default_threshold": 0.7, "max_retries": 3, "retry_delay": 1.0,
        },
        "queries": [
            {"text": MIDDLEWARE, "top_k": 2, "score_threshold": 0.5},
            {"text": SENSORS, "top_k": 5, "score_threshold": 0.2},
            {"text": CUP, "top_k": 5, "score_threshold": 0.7},
        ],
        "responses": [
            {"query": MIDDLEWARE, "results": one, "total_found": 1, **answered,
             "message": "Found 1 result at or above 0.5"},
            {"query": SENSORS, "results": two, "total_found": len(two), **answered,
             "message": lambda text: text.endswith("at or above 0.2")},
            {"query": CUP, "results": [], "total_found": 0, **answered, "status": "no_matches",
             "message": f"No matches: the best result scores {best[2]:.4f}, below 0.7"},
        ],
        "validation_results": [
            {"query": MIDDLEWARE, "expected_keywords": ["Middleware", "bot"], "passed": True, "results_count": 1,
             "top_result_score": best[0], "keywords_found": ["Middleware"], **done},
            {"query": SENSORS, "expected_keywords": ["lidar"], "passed": False, "results_count": len(two),
             "top_result_score": best[1], "keywords_found": [], **done},
            {"query": CUP, "expected_keywords": ["cup"], "passed": False, "results_count": 0,
             "top_result_score": best[2], "keywords_found": [], **done},
        ],
        "asked_not_available": ["page number", "section id"],
        "success_criteria": {
            "suite": {"field": "validation_results.passed", "value": 1 / 3, "gate": 1.0, "met": False},
            "latency_p95_ms": {"field": "execution_time_ms", "value": is_duration, "gate": 2000.0,
                               "met": lambda met: isinstance(met, bool)},
        },
        "rule_violations": [],
    })  # fmt: skip


def test_cohere_embeds_the_queries_and_the_collection_holds_1024_dimensions_by_cosine(run: Run) -> None:
    asked = [(body["texts"], body["input_type"], body["model"]) for body in run.embedded]
    assert ([MIDDLEWARE, SENSORS, CUP], "search_query", "embed-english-v3.0") in asked
    [vector] = run.report["index"]["vectors"]
    assert (vector["size"], vector["distance"]) == (1024, "Cosine")


def test_no_key_of_the_env_file_is_in_any_file_of_the_run(run: Run) -> None:
    files = [file for file in (run.folder / "ragval_reports").rglob("*") if file.is_file()]
    assert len(files) > 10
    assert [file.name for file in files if KEY.encode() in file.read_bytes()] == []
    assert KEY not in json.dumps(run.seed)
