from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from tests.reporting import factory
from tests.reporting.profiles.world import broken, rendered, snapshot

PROFILE = "retrieval-pipeline"
WHOLE_WAY = ["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE"]


def asked(best=0.8, hits=(), **more):
    given = {"expected_keywords": ["robot", "gripper", "ros"], **more.pop("given", {})}
    return factory.query("q1", "What is ROS 2?", best, hits=hits, given=given, **more)


def render(*queries, settings=None, environment=None, **more):
    run = factory.report(query_results=list(queries) or [asked()], environment=environment or {})
    return rendered(factory.bundle(run, settings=settings or {}, **more), PROFILE)


def test_defaults_are_the_seeds():
    report = render()
    assert report["queries"] == [{"text": "What is ROS 2?", "top_k": 5, "score_threshold": 0.7}]
    assert (report["config"]["default_top_k"], report["config"]["default_threshold"]) == (5, 0.7)


def test_a_query_shows_its_own_numbers_and_the_config_the_suites():
    settings = {"retrieval": {"top_k": 8, "min_similarity": 0.4}, "retry": {"max": 3, "delay_s": 1.0}}
    report = render(asked(given={"top_k": 2, "min_similarity": 0.0}), asked(), settings=settings)
    assert [(query["top_k"], query["score_threshold"]) for query in report["queries"]] == [(2, 0.0), (8, 0.4)]
    assert (report["config"]["max_retries"], report["config"]["retry_delay"]) == (3, 1.0)


def test_the_config_says_how_long_vectors_are_and_that_the_seed_expects_1024(tmp_path):
    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts

    right = render(manifest=snapshot(tmp_path / "a", PROFILE, {}))
    assert (right["config"]["vector_size"], broken(right, "config")) == (1024, set())
    vectors = (VectorFacts(name=None, size=256, distance="Cosine"),)
    other = render(manifest=snapshot(tmp_path / "b", PROFILE, {}, vectors=vectors))
    assert (other["config"]["vector_size"], broken(other, "config")) == (256, {"vector_size"})


def test_the_config_names_the_model_that_the_run_embedded_with():
    config = render(environment={"embedding_model": "wordllama/l2_supercat/256"})["config"]
    assert config["embedding_model"] == "wordllama/l2_supercat/256"


def test_results_are_those_at_or_above_the_threshold():
    hits = [factory.hit(1, 0.9), factory.hit(2, 0.7), factory.hit(3, 0.6999)]
    [response] = render(asked(0.9, hits=hits))["responses"]
    assert [hit["similarity_score"] for hit in response["results"]] == [0.9, 0.7]
    assert (response["total_found"], response["status"]) == (2, "success")
    assert "2 results" in response["message"]


def test_nothing_above_the_threshold_is_no_match_and_the_message_keeps_the_score():
    report = render(asked(0.55, passed=False))
    [response] = report["responses"]
    assert (response["status"], response["results"], response["total_found"]) == ("no_matches", [], 0)
    assert "0.5500" in response["message"]
    assert report["validation_results"][0]["top_result_score"] == 0.55


def test_a_collection_that_returns_nothing_is_no_match():
    [response] = render(asked(None, passed=False))["responses"]
    assert response["status"] == "no_matches"
    assert "returned nothing" in response["message"]


@pytest.mark.parametrize(
    ("times", "states"),
    [
        ({"embedding_ms": 3.0, "search_time_ms": None}, ["VALIDATING", "EMBEDDING", "SEARCHING", "SearchError"]),
        ({"embedding_ms": None, "search_time_ms": None}, ["VALIDATING", "EMBEDDING", "EmbeddingError"]),
    ],
)
def test_a_system_that_failed_is_an_error_with_the_states_up_to_it(times, states):
    failed = asked(None, passed=None, status="error", fail_reason="Qdrant: connection refused", **times)
    report = render(failed)
    [response] = report["responses"]
    assert (response["status"], response["message"]) == ("error", "Qdrant: connection refused")
    assert response["states"] == states
    assert report["validation_results"][0]["passed"] is False


@pytest.mark.parametrize(
    ("code", "answers"),
    [("unreachable", ["error"] * 2), ("no_data", ["error"] * 2), ("not_selected", []), ("not_applicable", [])],
)
def test_queries_that_a_failed_system_kept_from_being_asked_are_errors(code, answers):
    rate = factory.criterion("query_pass_rate", None, 1.0, reason="not measured: no answer", reason_code=code)
    run = factory.report(query_results=[], criteria=[rate])
    first = {"id": "q1", "query_text": "What is ROS 2?", "expected_keywords": ["ros"]}
    second = {"id": "q2", "query_text": "What is URDF?"}
    report = rendered(factory.bundle(run, queries=[first, second]), PROFILE)
    assert [response["status"] for response in report["responses"]] == answers
    assert {(entry["message"], entry["states"][-1]) for entry in report["responses"]} <= {("no answer", "SearchError")}
    assert [query["text"] for query in report["queries"]] == [entry["query"] for entry in report["validation_results"]]
    assert [result["passed"] for result in report["validation_results"]] == [False for _ in answers]


def test_an_answered_query_passes_through_all_states():
    assert render()["responses"][0]["states"] == WHOLE_WAY
    assert render(asked(0.1))["responses"][0]["states"] == WHOLE_WAY


def test_times_are_milliseconds():
    report = render(asked(embedding_ms=20.0, search_time_ms=5.5))
    assert report["responses"][0]["search_time_ms"] == 5.5
    assert report["validation_results"][0]["execution_time_ms"] == 25.5


def test_keywords_are_found_as_whole_words():
    hits = [factory.hit(1, 0.8, chunk_text="A Robot across the room"), factory.hit(2, 0.7, chunk_text="grippers")]
    hits.append(factory.hit(3, 0.6, chunk_text="ros below the threshold"))
    [result] = render(asked(hits=hits))["validation_results"]
    assert result["expected_keywords"] == ["robot", "gripper", "ros"]
    assert result["keywords_found"] == ["robot"]
    assert (result["passed"], result["results_count"]) == (True, 2)


def test_a_keyword_of_a_hit_below_the_threshold_is_not_found_in_the_results():
    hits = [factory.hit(1, 0.8, chunk_text="a robot"), factory.hit(2, 0.6, chunk_text="a gripper")]
    assert render(asked(hits=hits))["validation_results"][0]["keywords_found"] == ["robot"]


def test_an_md5_id_comes_back_dashed_and_finds_its_stored_time(tmp_path):
    digest = hashlib.md5(b"https://x.org/a_0").hexdigest()
    manifest = snapshot(tmp_path, PROFILE, {digest: {"embedded_at": "2025-12-27T10:00:00"}})
    dashed = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))
    report = render(asked(hits=[factory.hit(1, 0.8, chunk_id=dashed)]), manifest=manifest)
    [result] = report["responses"][0]["results"]
    assert (result["chunk_id"], result["embedded_at"]) == (dashed, "2025-12-27T10:00:00")


@pytest.mark.parametrize(
    ("hit", "fields"),
    [
        ({"similarity_score": 1.1}, {"similarity_score", "embedded_at"}),
        ({"chunk_index": -1}, {"chunk_index", "embedded_at"}),
        ({"token_count": 0}, {"token_count", "embedded_at"}),
        ({"title": None}, {"source_title", "embedded_at"}),
    ],
)
def test_a_result_that_breaks_a_rule_is_kept_and_named(hit, fields):
    found = replace(factory.hit(1, 0.8), **hit)
    assert broken(render(asked(hits=[found])), "responses[0].results[0]") == fields


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"query_text": "x" * 8000}, set()),
        ({"query_text": "x" * 8001}, {"text"}),
        ({"query_text": "  "}, {"text"}),
        ({"top_k": 50}, set()),
        ({"top_k": 51}, {"top_k"}),
        ({"min_similarity": 1.0}, set()),
        ({"min_similarity": 1.5}, {"score_threshold"}),
    ],
)
def test_a_query_that_breaks_a_rule_is_named(given, fields):
    query = asked()
    query = query.model_copy(update={"query": {**query.query, **given}})
    assert broken(render(query), "queries[0]") == fields
