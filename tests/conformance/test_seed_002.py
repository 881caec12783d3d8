"""Seed 002 from its variables to its report: relevance by score, precision on pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.world import MISSING, PAGES, Run, run_seed, same

MIDDLEWARE, SENSORS, VOICE = "What is the middleware of a robot?", "Which sensors does Gazebo simulate?", "Whose voice?"


def queries(site: str) -> list[dict[str, Any]]:
    relevant = [f"{site}{PAGES[0][0]}", f"{site}{PAGES[1][0]}"]
    return [
        {
            "query": MIDDLEWARE,
            "category": "ROS 2",
            "expected_topics": ["middleware", "nodes"],
            "relevant_urls": relevant,
        },
        {"query": SENSORS, "category": "Digital Twin (Gazebo/Unity)"},
        {"query": VOICE, "category": "VLA", "relevant_urls": [f"{site}{MISSING}"]},
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_seed(
        "002",
        tmp_path_factory.mktemp("seed002"),
        queries,
        change={1: {"heading": ["ROS", "Topics"]}, 3: {"heading": "", "tokens": None}},
    )


def results(run: Run, given: dict[str, Any]) -> list[dict[str, Any]]:
    """What the seed's RetrievalResults of a query must be."""
    ids = {chunk.text: chunk.id for chunk in run.chunks}
    found = run.found(given["query"], [ids[entry["text"]] for entry in given["results"]])
    return [
        {
            "rank": rank, "score": score, "url": chunk.url, "title": chunk.title,
            "heading": "ROS > Topics" if chunk.id == "1" else chunk.payload["heading"], "text": chunk.text,
            "token_count": chunk.payload["token_count"], "preview": chunk.text[:150],
        }
        for rank, (chunk, score) in enumerate(found, 1)
    ]  # fmt: skip


def test_every_field_holds_the_value_that_collection_and_queries_give(run: Run) -> None:
    report, site = run.seed, run.site
    first, second, third = report["query_results"]
    scores = [results(run, entry)[0]["score"] for entry in report["query_results"]]
    assert (scores[0] > 0.5, scores[1] < 0.5, scores[2] < 0.5) == (True, True, True)
    relevant = queries(site)[0]["relevant_urls"]
    seen = {metric["query"]: metric["retrieved_urls"] for metric in report["precision_metrics"]}
    pages = {f"{site}{page[0]}" for page in PAGES}
    assert all(set(urls) == pages for urls in seen.values())

    def metric(query: str, k: int, found: list[str], ceiling: float) -> dict[str, Any]:
        return {
            "query": query, "k": k, "precision": len(found) / k, "retrieved_urls": seen[query],
            "relevant_retrieved": lambda urls: sorted(urls) == sorted(found), "relevant_count": len(found),
            "ceiling": ceiling, "short_because": None if k == 3 else lambda text: "3 distinct pages" in text,
        }  # fmt: skip

    asked = {"query": "", "category": "", "expected_topics": [], "results": [], "top1_score": 0.0, "relevant": False}
    same(report, {
        "profile": "rag-validation",
        "collection_name": "robotics_textbook",
        "total_queries": 3,
        "query_results": [
            {**asked, "query": MIDDLEWARE, "category": "ROS 2", "expected_topics": ["middleware", "nodes"],
             "results": results(run, first), "top1_score": scores[0], "relevant": True},
            {**asked, "query": SENSORS, "category": "Digital Twin (Gazebo/Unity)", "results": results(run, second),
             "top1_score": scores[1]},
            {**asked, "query": VOICE, "category": "VLA", "results": results(run, third), "top1_score": scores[2]},
        ],
        "precision_metrics": [
            metric(MIDDLEWARE, 3, relevant, 2 / 3), metric(MIDDLEWARE, 5, relevant, 2 / 5),
            metric(VOICE, 3, [], 1 / 3), metric(VOICE, 5, [], 1 / 5),
        ],
        "avg_top1_score": sum(scores) / 3,
        "queries_above_threshold": 1,
        "avg_precision_at_3": 1 / 3,
        "avg_precision_at_5": 1 / 5,
        "pass_status": False,
        "timestamp": run.is_time,
        "ground_truth": [
            {"query": MIDDLEWARE, "relevant_urls": relevant},
            {"query": VOICE, "relevant_urls": [f"{site}{MISSING}"]},
        ],
        "success_criteria": {
            "relevance": {"field": lambda text: "queries_above_threshold" in text, "value": 1 / 3, "gate": 0.8,
                          "met": False},
            "precision_at_3": {"field": "avg_precision_at_3", "value": 1 / 3, "gate": 0.7, "met": False},
        },
        "rule_violations": lambda entries: {
            (entry["field"], entry["where"]) for entry in entries if entry["field"] != "heading"
        } == {("retrieved_urls", f"precision_metrics[{number}]") for number in (1, 3)},
    })  # fmt: skip


def test_queries_are_embedded_as_queries_with_the_multilingual_model(run: Run) -> None:
    asked = [(body["texts"], body["input_type"], body["model"]) for body in run.embedded]
    assert ([MIDDLEWARE, SENSORS, VOICE], "search_query", "embed-multilingual-v3.0") in asked
