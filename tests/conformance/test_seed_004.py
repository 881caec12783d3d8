"""Seed 004 from its variables to its report: matches, their metadata, and texts held against their pages."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.conformance.world import PAGES, TIME, Run, is_duration, run_seed, same
from tests.support.cohere_server import hashed_vector

MIDDLEWARE, SENSORS = "What is the middleware of a robot?", "Which sensors does Gazebo simulate?"
CREATED = "2025-12-19T08:00:00Z"
ALTERED = "Gazebo simulates gravity, collisions and other nonsense entirely."


def queries(site: str) -> list[dict[str, Any]]:
    return [
        {"text": MIDDLEWARE, "relevant_urls": [f"{site}{PAGES[0][0]}"], "created_at": CREATED},
        {"text": SENSORS, "relevant_urls": [f"{site}{PAGES[1][0]}"], "min_similarity": 0.2},
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A chunk whose text was changed after it was hashed, and one with another's chunk_id."""
    change = {2: {"text": ALTERED}, 3: {"id": "c0"}}
    return run_seed("004", tmp_path_factory.mktemp("seed004"), queries, change=change)


def result(run: Run, number: int) -> dict[str, Any]:
    """What the seed's RetrievalResult of a query must be."""
    text = queries(run.site)[number]["text"]
    found = run.found(text, [match["id"] for match in run.seed["retrieval_results"][number]["matches"]])
    metadata = [
        {"url": chunk.url, "chunk_id": chunk.payload["chunk_id"], "source_title": chunk.title, "created_at": TIME}
        for chunk, _ in found
    ]
    return {
        "query": {"text": text, "embedding": hashed_vector(text), "created_at": run.is_time if number else CREATED},
        "matches": [
            {"id": one.id, "content": one.text, "original_url": one.url, "vector": one.vector, "metadata": entry}
            for (one, _), entry in zip(found, metadata, strict=True)
        ],
        "scores": [score for _, score in found],
        "metadata_list": metadata,
        "retrieval_time": lambda value: is_duration(value) and value < 60,
        "total_chunks_searched": 4,
    }


def test_every_field_holds_the_value_that_collection_and_queries_give(run: Run) -> None:
    report = run.seed
    assert (report["profile"], report["passed"], run.is_time(report["timestamp"])) == (
        "rag-retrieval-testing", False, True,
    )  # fmt: skip
    same(report["retrieval_results"], [result(run, 0), result(run, 1)])
    records = {record["chunk"]: record for record in report["embeddings"]}
    same([records[chunk.id] for chunk in run.chunks], [
        {"chunk": chunk.id, "vector": chunk.vector, "model": "embed-multilingual-v3.0", "dimension": 1024,
         "text_hash": chunk.payload["text_hash"],
         "text_hash_matches": hashlib.sha256(chunk.text.encode()).hexdigest() == chunk.payload["text_hash"]}
        for chunk in run.chunks
    ])  # fmt: skip
    assert [records[chunk.id]["text_hash_matches"] for chunk in run.chunks] == [True, True, False, True]
    broken = {(entry["entity"], entry["field"]) for entry in report["rule_violations"]}
    assert broken == {("VectorEmbedding", "text_hash_matches"), ("Metadata", "chunk_id")}


def test_content_is_compared_with_the_page_that_it_came_from(run: Run) -> None:
    stands = run.seed["success_criteria"]["integrity"]
    criterion = next(entry for entry in run.report["criteria"] if entry["name"] == "content_integrity")
    kept, changed = letters(*PAGES[0][3]), letters(ALTERED)
    assert criterion["denominator"] == kept + changed
    assert kept < criterion["numerator"] < kept + changed
    assert (stands["gate"], stands["met"]) == (99.0, False)
    assert stands["value"] == pytest.approx(100 * criterion["numerator"] / criterion["denominator"])


def letters(*texts: str) -> int:
    return sum(sum(map(str.isalnum, text)) for text in texts)


def test_queries_are_embedded_as_queries_with_the_multilingual_model(run: Run) -> None:
    asked = [(body["texts"], body["input_type"], body["model"]) for body in run.embedded]
    assert ([MIDDLEWARE, SENSORS], "search_query", "embed-multilingual-v3.0") in asked


def test_the_verdict_follows_from_the_four_rules(run: Run) -> None:
    stands = {name: (entry["gate"], entry["met"]) for name, entry in run.seed["success_criteria"].items()}
    assert stands["metadata_completeness"] == (100.0, True)
    assert stands["top_k_accuracy"] == (90.0, True)
    assert stands["performance"][0] == 2.0
