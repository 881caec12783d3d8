from __future__ import annotations

import hashlib

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.validation.query_report import HeldTo
from tests.reporting import factory
from tests.reporting.profiles.world import broken, rendered, snapshot

PROFILE = "retrieval-validation"
TEXT = "ROS 2 is a middleware."
POINT = "00000000-0000-0000-0000-000000000001"
STORED = {
    "text": TEXT, "source_url": factory.PAGES[1], "module": "m", "chapter": "c", "chunk_index": 0,
    "text_hash": hashlib.sha256(TEXT.encode()).hexdigest(), "model": "embed-english-v3.0", "original_length": 5000,
    "processed_at": "2026-01-06T10:00:00Z",
}  # fmt: skip
SETTINGS = {"payload": {"fields": {"module": "module"}}}


def asked(query_id="q1", best=0.6, hits=None, **more):
    given = {"expected_results": [{"text": "middleware"}], **more.pop("given", {})}
    hits = [factory.hit(1, best, **more.pop("hit", {}))] if hits is None else hits
    return factory.query(query_id, "What is ROS 2?", best, hits=hits, given=given, **more)


def bundle_of(*queries, given=None, **more):
    everything = [query.query for query in queries] if given is None else given
    settings = more.pop("settings", SETTINGS)
    report = factory.report(query_results=list(queries), environment={"embedding_model": "embed-english-v3.0"})
    return factory.bundle(report, queries=everything, settings=settings, **more)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        (asked(), "PASS"),
        (asked(passed=False), "FAIL"),
        (asked(passed=None, status="error", best=None, hits=[], fail_reason="Qdrant: refused"), "ERROR"),
    ],
)
def test_the_status_follows_from_the_comparison(query, status):
    assert rendered(bundle_of(query), PROFILE)["validation_tests"][0]["status"] == status


def test_a_test_that_was_not_run_is_pending_without_results_or_time():
    given = [asked("q1").query, asked("q2").query]
    report = rendered(bundle_of(asked("q1"), given=given, asked_at={"q1": "2026-01-06T10:00:00.000Z"}), PROFILE)
    first, second = report["validation_tests"]
    assert (first["status"], second["status"]) == ("PASS", "PENDING")
    assert (second["actual_results"], second["timestamp"], second["execution_time_ms"]) == (None, None, None)
    assert first["timestamp"] == "2026-01-06T10:00:00.000Z"
    assert [query["timestamp"] for query in report["queries"]] == [first["timestamp"], None]


def test_without_the_group_of_queries_every_test_is_pending():
    given = [asked("q1").query, asked("q2").query]
    report = rendered(bundle_of(given=given), PROFILE)
    assert [test["status"] for test in report["validation_tests"]] == ["PENDING", "PENDING"]


def test_tests_that_a_failed_system_kept_from_being_run_are_errors():
    rate = factory.criterion("query_pass_rate", None, 0.95, reason="no answer from Qdrant", reason_code="unreachable")
    run = factory.report(query_results=[], criteria=[rate])
    report = rendered(factory.bundle(run, queries=[asked("q1").query], settings=SETTINGS), PROFILE)
    assert [test["status"] for test in report["validation_tests"]] == ["ERROR"]


def test_execution_time_is_milliseconds_of_embedding_and_search():
    [test] = rendered(bundle_of(asked(embedding_ms=12.5, search_time_ms=30.0)), PROFILE)["validation_tests"]
    assert test["execution_time_ms"] == 42.5
    [test] = rendered(bundle_of(asked(embedding_ms=None, search_time_ms=30.0)), PROFILE)["validation_tests"]
    assert test["execution_time_ms"] == 30.0


def embedding(folder, stored, **more):
    report = rendered(bundle_of(asked(), manifest=snapshot(folder, PROFILE, {POINT: stored}), **more), PROFILE)
    [record] = report["embeddings"]
    return record, broken(report, "embeddings[0]")


def test_the_embedding_record_says_dimension_model_and_whether_the_hash_fits(tmp_path):
    record, violated = embedding(tmp_path / "a", STORED)
    assert (record["dimension"], record["model"], record["text_hash_matches"]) == (1024, "embed-english-v3.0", True)
    assert violated == set()
    changed = {**STORED, "text": "Other words.", "model": "embed-multilingual-v2.0"}
    found = make_finding("text.hash_mismatch", [POINT])
    record, violated = embedding(tmp_path / "b", changed, findings=[found])
    assert record["text_hash_matches"] is False
    assert violated == {"text_hash_matches", "model"}


@pytest.mark.parametrize(
    "text_hash",
    [
        hashlib.md5(TEXT.encode(), usedforsecurity=False).hexdigest(),
        f"sha256:{hashlib.sha256(TEXT.encode()).hexdigest().upper()}",
        hashlib.sha256(f"{TEXT}\n".encode()).hexdigest(),
        hashlib.sha1(TEXT.lower().encode(), usedforsecurity=False).hexdigest()[:16],
    ],
)
def test_the_hash_fits_in_every_form_that_the_findings_know(tmp_path, text_hash):
    record, violated = embedding(tmp_path, {**STORED, "text_hash": text_hash})
    assert (record["text_hash_matches"], violated) == (True, set())


def test_a_hash_of_something_unknown_breaks_no_rule(tmp_path):
    of_the_page = hashlib.sha256(b"the whole page").hexdigest()
    record, violated = embedding(tmp_path, {**STORED, "text_hash": of_the_page})
    assert (record["text_hash"], record["text_hash_matches"], violated) == (of_the_page, None, set())


@pytest.mark.parametrize(
    ("hit", "fields"),
    [
        ({"source_url": "book"}, {"source_url"}),
        ({"source_url": None}, {"source_url"}),
        ({"module_name": " "}, {"module"}),
        ({"chapter_id": ""}, {"chapter"}),
        ({"chapter_id": None}, {"chapter"}),
        ({"chunk_index": -1}, {"chunk_index"}),
        ({"chunk_index": 0}, set()),
    ],
)
def test_metadata_that_breaks_a_rule_is_kept_and_named(hit, fields):
    report = rendered(bundle_of(asked(hit=hit)), PROFILE)
    assert broken(report, "validation_tests[0].actual_results[0].metadata") == fields


def test_an_original_length_of_zero_breaks_the_rule_and_none_at_all_does_not(tmp_path):
    where = "validation_tests[0].actual_results[0].metadata"
    zero = snapshot(tmp_path / "a", PROFILE, {POINT: {**STORED, "original_length": 0}})
    none = snapshot(tmp_path / "b", PROFILE, {POINT: {**STORED, "original_length": None}})
    assert broken(rendered(bundle_of(asked(), manifest=zero), PROFILE), where) == {"original_length"}
    assert broken(rendered(bundle_of(asked(), manifest=none), PROFILE), where) == set()


@pytest.mark.parametrize(
    ("stored", "shown", "fields"),
    [
        ("2026-01-06T10:00:00+01:00", "2026-01-06T10:00:00+01:00", set()),
        (1767693600, "2026-01-06T10:00:00.000Z", set()),
        (None, None, set()),
        ("yesterday", "yesterday", {"processed_at"}),
    ],
)
def test_a_stored_time_is_a_date_and_time_and_seconds_are_shown_as_one(tmp_path, stored, shown, fields):
    manifest = snapshot(tmp_path, PROFILE, {POINT: {**STORED, "processed_at": stored}})
    report = rendered(bundle_of(asked(), manifest=manifest), PROFILE)
    assert report["validation_tests"][0]["actual_results"][0]["metadata"]["processed_at"] == shown
    assert broken(report, "validation_tests[0].actual_results[0].metadata") == fields


@pytest.mark.parametrize(("score", "fields"), [(-1.0, set()), (-0.3, set()), (1.0, set()), (1.2, {"score"})])
def test_scores_lie_between_minus_one_and_one(score, fields):
    report = rendered(bundle_of(asked(best=score)), PROFILE)
    assert broken(report, "validation_tests[0].actual_results[0]") == fields


@pytest.mark.parametrize("empty", [" ", "\u200b"])
def test_an_empty_text_and_results_out_of_order_break_rules(empty):
    hits = [factory.hit(1, 0.4, chunk_text=empty), factory.hit(2, 0.6)]
    report = rendered(bundle_of(asked(hits=hits)), PROFILE)
    assert broken(report, "validation_tests[0].actual_results[0]") == {"text"}
    assert broken(report, "validation_tests[0]") == {"actual_results"}


def test_a_test_without_an_expected_chunk_breaks_the_rule_unless_it_is_negative():
    without, negative = asked("q1", given={"expected_results": []}), asked("q2", given={"expected_results": []})
    negative = negative.model_copy(update={"query": {**negative.query, "negative": True}})
    report = rendered(bundle_of(without, negative), PROFILE)
    assert broken(report, "validation_tests[0]") == {"expected_results"}
    assert broken(report, "validation_tests[1]") == set()


def test_the_index_is_shown_with_its_hnsw_and_payload_indexes_and_what_is_missing(tmp_path):
    facts = {"hnsw": {"m": 16}, "payload_indexes": {"module": "keyword"}}
    report = rendered(bundle_of(asked(), manifest=snapshot(tmp_path, PROFILE, {POINT: STORED}, **facts)), PROFILE)
    indexing = report["indexing"]
    assert (indexing["vector_size"], indexing["distance"], indexing["index_type"]) == (1024, "Cosine", "HNSW")
    assert indexing["hnsw"] == {"m": 16}
    assert indexing["missing_payload_indexes"] == ["chapter", "source_url"]


def test_there_is_advice_on_combined_payload_indexes():
    advice = rendered(bundle_of(asked()), PROFILE)["indexing"]["advice"]
    assert "module, chapter, source_url" in advice
    assert "composite" in advice


def test_local_mode_has_no_indexes_to_miss(tmp_path):
    manifest = snapshot(tmp_path, PROFILE, {POINT: STORED}, local=True)
    indexing = rendered(bundle_of(asked(), manifest=manifest), PROFILE)["indexing"]
    assert (indexing["index_type"], indexing["missing_payload_indexes"]) == ("none (local mode)", None)


def test_success_criteria_are_percent_and_milliseconds():
    criteria = [
        factory.criterion("retrieved_metadata_completeness", 0.9, 1.0, required=True),
        factory.criterion("accuracy", 0.95, 0.95, required=True),
        factory.criterion("determinism", 1.0, 1.0, required=True),
        factory.criterion("negative_pass_rate", None, 1.0, required=True, reason_code="not_applicable"),
        factory.criterion("latency_p95_ms", 420.0, 500.0),
    ]
    report = rendered(factory.bundle(factory.report("fail", criteria=criteria)), PROFILE)
    stands = {name: (entry["value"], entry["gate"], entry["met"]) for name, entry in report["success_criteria"].items()}
    assert stands == {
        "metadata_completeness": (90.0, 100.0, False),
        "accuracy": (95.0, 95.0, True),
        "determinism": (100.0, 100.0, True),
        "false_positives": (None, 100.0, None),
        "latency_p95_ms": (420.0, 500.0, True),
    }
    assert report["passed"] is False


@pytest.mark.parametrize(
    ("size", "stated", "named"), [(1024, None, []), (256, None, [256]), (256, 256, []), (1024, 256, [1024])]
)
def test_a_dimension_that_is_not_the_queries_is_named_once(tmp_path, size, stated, named):
    vectors = (VectorFacts(name=None, size=size, distance="Cosine"),)
    manifest = snapshot(tmp_path, PROFILE, {POINT: STORED}, vectors=vectors)
    settings = {**SETTINGS, "embedding": {"dimension": stated}}
    report = rendered(bundle_of(asked(), manifest=manifest, settings=settings), PROFILE)
    found = [entry for entry in report["rule_violations"] if entry["field"] == "dimension"]
    assert [(entry["where"], entry["entity"], entry["value"]) for entry in found] == [
        ("embeddings", "Embedding", value) for value in named
    ]
    assert {record["dimension"] for record in report["embeddings"]} == {size}


def test_a_query_that_nobody_judged_is_no_test_of_the_seed():
    nothing = HeldTo(top_k=5, conditions=[], min_similarity=None, module_match=None)
    report = rendered(bundle_of(asked(), asked("q2", passed=None, held_to=nothing)), PROFILE)
    assert [test["id"] for test in report["validation_tests"]] == ["q1"]
