"""Seed 001 from its variables to its report: tests with known answers, nested payloads, embeddings that are broken."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.conformance.world import MISSING, NAMES, TIME, Run, is_duration, run_seed, same
from tests.support.cohere_server import hashed_vector

MIDDLEWARE, SENSORS, CUP = (
    "What is the middleware of a robot?",
    "Which sensors does Gazebo simulate?",
    "Who won the cup?",
)
EXPECTED = {"text": "the middleware that the nodes", "metadata": {"chunk_index": 0, "module": "Module 1 Ros2"}}
BROKEN = 3


def queries(site: str) -> list[dict[str, Any]]:
    return [
        {"id": "t1", "name": "middleware", "description": "names the middleware", "query_text": MIDDLEWARE,
         "expected_results": [EXPECTED], "metadata": {"author": "x"}},
        {"query_text": SENSORS, "expected_results": [{"source_url": f"{site}{MISSING}"}]},
        {"id": "t3", "query_text": CUP, "negative": True},
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    change = {2: {"hash": "0" * 64, "model": "embed-english-v2.0"}, BROKEN: {"vector": [0.0] * 1024, "length": 0}}
    return run_seed("001", tmp_path_factory.mktemp("seed001"), queries, change=change)


def chunks(run: Run, text: str, test: dict[str, Any]) -> list[dict[str, Any]]:
    """What the seed's Retrieved Chunks of a query must be."""
    found = run.found(text, [chunk["id"] for chunk in test["actual_results"]])
    assert len(found) == 4
    return [
        {
            "id": chunk.id, "text": chunk.text, "embedding": chunk.vector, "score": score,
            "metadata": {
                "source_url": chunk.url, "module": chunk.module, "chapter": chunk.chapter, "chunk_index": chunk.index,
                "original_length": chunk.payload["original_length"], "processed_at": TIME,
            },
        }
        for chunk, score in found
    ]  # fmt: skip


def test_every_field_holds_the_value_that_collection_and_queries_give(run: Run) -> None:
    report = run.seed
    same(report["queries"], [
        {"id": name, "text": text, "embedding": hashed_vector(text), "timestamp": run.is_time, "metadata": metadata}
        for name, text, metadata in (("t1", MIDDLEWARE, {"author": "x"}), ("q2", SENSORS, None), ("t3", CUP, None))
    ])  # fmt: skip
    first, second, third = report["validation_tests"]
    done = {"timestamp": run.is_time, "execution_time_ms": is_duration}
    same(first, {
        "id": "t1", "name": "middleware", "description": "names the middleware", "query_text": MIDDLEWARE,
        "expected_results": [EXPECTED], "actual_results": chunks(run, MIDDLEWARE, first), "status": "PASS", **done,
    })  # fmt: skip
    same(second, {
        "id": "q2", "name": "q2", "description": SENSORS, "query_text": SENSORS,
        "expected_results": [{"source_url": f"{run.site}{MISSING}"}],
        "actual_results": chunks(run, SENSORS, second), "status": "FAIL", **done,
    })  # fmt: skip
    assert (third["status"], third["expected_results"]) == ("PASS", [])
    hashes = [hashlib.sha256(chunk.text.encode()).hexdigest() for chunk in run.chunks]
    records = sorted(report["embeddings"], key=lambda record: [chunk.id for chunk in run.chunks].index(record["chunk"]))
    same(records, [
        {"chunk": chunk.id, "vector": chunk.vector, "dimension": 1024, "model": chunk.payload["model"],
         "text_hash": chunk.payload["text_hash"], "text_hash_matches": chunk.payload["text_hash"] == digest}
        for chunk, digest in zip(run.chunks, hashes, strict=True)
    ])  # fmt: skip
    assert [record["text_hash_matches"] for record in records] == [True, True, False, True]
    broken = {(entry["entity"], entry["field"]) for entry in report["rule_violations"]}
    assert broken == {("Embedding", "text_hash_matches"), ("Embedding", "model"), ("Metadata", "original_length")}


def test_each_query_has_the_time_when_it_was_asked_and_not_the_runs(run: Run) -> None:
    times = [query["timestamp"] for query in run.seed["queries"]]
    assert times == [test["timestamp"] for test in run.seed["validation_tests"]]
    assert times == sorted(times)
    assert times[-1] < run.seed["timestamp"]


def test_cohere_embeds_each_query_as_a_query(run: Run) -> None:
    asked = [(body["texts"], body["input_type"], body["model"]) for body in run.embedded]
    assert ([MIDDLEWARE, SENSORS, CUP], "search_query", "embed-english-v3.0") in asked


def test_what_the_seed_requires_decides_and_is_in_the_report(run: Run) -> None:
    stands = {name: (entry["value"], entry["met"]) for name, entry in run.seed["success_criteria"].items()}
    del stands["latency_p95_ms"]
    assert stands == {
        "metadata_completeness": (100.0, True), "accuracy": (50.0, False), "determinism": (100.0, True),
        "false_positives": (100.0, True),
    }  # fmt: skip
    assert (run.seed["passed"], run.report["verdict"]) == (False, "fail")


def test_a_corrupted_embedding_is_named(run: Run) -> None:
    [finding] = [entry for entry in run.report["findings"] if entry["code"] == "vector.zero"]
    assert (finding["subjects"], finding["severity"]) == ([run.chunks[BROKEN].id], "error")


@pytest.mark.parametrize("seed", ["001", "002", "003"])
def test_a_stored_address_that_is_none_is_named_without_a_site_too(tmp_path: Any, seed: str) -> None:
    run = run_seed(seed, tmp_path, lambda _: [], change={2: {"url": "docs/sim"}}, only={"metadata"})
    [finding] = [entry for entry in run.report["findings"] if entry["code"] == "payload.invalid_value"]
    assert (finding["scope"], finding["subjects"]) == (NAMES[seed]["url"], [run.chunks[2].id])


@pytest.mark.parametrize("mapped", [True, False])
def test_nested_metadata_is_read_where_the_fields_say_so_and_missed_by_name_where_they_do_not(
    tmp_path: Any, mapped: bool
) -> None:
    words = {"url": "source_url", "index": "chunk_index", "length": "original_length", "time": "embedded_at"}
    fields = {words.get(name, name): f"metadata.{stored}" for name, stored in NAMES["001"].items() if name in
              {"url", "module", "chapter", "index", "length", "time"}}  # fmt: skip
    sections = {"payload": {"fields": fields}} if mapped else {}
    run = run_seed("001", tmp_path, queries, nested="metadata", only={"queries"}, **sections)
    test = run.seed["validation_tests"][0]
    complete = run.seed["success_criteria"]["metadata_completeness"]
    required = {"source_url", "module", "chapter", "chunk_index"}
    if mapped:
        same(test["actual_results"], chunks_nested(run, test))
        assert (test["status"], complete["value"], complete["met"]) == ("PASS", 100.0, True)
    else:
        place = "validation_tests[0].actual_results[0].metadata"
        missed = {entry["field"] for entry in run.seed["rule_violations"] if entry["where"] == place}
        assert missed == required
        assert (test["status"], complete["value"], complete["met"]) == ("FAIL", 0.0, False)


def chunks_nested(run: Run, test: dict[str, Any]) -> list[dict[str, Any]]:
    """As ``chunks``, for payloads whose values lie below ``metadata``."""
    for chunk in run.chunks:
        chunk.payload.update(chunk.payload["metadata"])
    return chunks(run, MIDDLEWARE, test)
