"""Five profiles: every number of the five seeds that is a setting, a gate or a rule."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.gates import gates_of
from ragval_pipeline.suite.load import check_variables, load_suite, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.payload import CANONICAL_FIELDS
from ragval_pipeline.suite.problems import key_paths
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.suite.queries.load import load_queries
from tests.suite.writing import one_line, refused, suite_of, write

SEED_0, SEED_1, SEED_2, SEED_3, SEED_4 = PROFILES

#: Section 3 of the design: judged conditions and required criteria. Critical queries are required of everyone.
TABLE: dict[str, tuple[set[str], dict[str, float]]] = {
    "retrieval-pipeline-testing": (
        {"score", "module"},
        {"query_pass_rate": 0.90, "coverage": 1.0, "metadata_completeness": 1.0},
    ),
    "retrieval-validation": (
        {"results", "score"},
        {
            "query_pass_rate": 0.95,
            "retrieved_metadata_completeness": 1.0,
            "accuracy": 0.95,
            "determinism": 1.0,
            "negative_pass_rate": 1.0,
        },
    ),
    "rag-validation": ({"score"}, {"relevance_rate": 0.80, "precision_at_3": 0.70}),
    "retrieval-pipeline": ({"keywords", "score"}, {"query_pass_rate": 1.0}),
    "rag-retrieval-testing": (
        {"url", "score"},
        {
            "query_pass_rate": 0.90,
            "content_integrity": 0.99,
            "error_findings": 0.0,
            "retrieved_metadata_completeness": 1.0,
            "latency_p95_ms": 2000,
            "recall_at_5": 0.90,
        },
    ),
}
#: Collection, model, threshold, payload names of text and page, required payload names.
SETTINGS: dict[str, tuple[str, str, float, str, str, set[str]]] = {
    SEED_0: (
        "rag_embedding", "embed-english-v3.0", 0.70, "chunk_text", "source_url",
        {"source_url", "chapter_id", "module_name", "heading_hierarchy", "token_count", "chunk_index"},
    ),
    SEED_1: (
        "book_embeddings", "embed-english-v3.0", 0.3, "text", "source_url",
        {"source_url", "module", "chapter", "chunk_index"},
    ),
    SEED_2: (
        "robotics_textbook", "embed-multilingual-v3.0", 0.5, "text", "url", {"url", "title", "heading", "text"},
    ),
    SEED_3: (
        "Physical-AI-Book", "embed-english-v3.0", 0.7, "content", "url",
        {"url", "title", "chunk_index", "content", "token_count", "embedded_at"},
    ),
    SEED_4: ("rag-embeddings", "embed-multilingual-v3.0", 0.5, "content", "url", {"url", "chunk_id"}),
}  # fmt: skip
SHARED = {"COHERE_API_KEY": "k", "QDRANT_URL": "http://q", "QDRANT_API_KEY": "k"}
#: Further variables of each seed: the key they set, a text, and the setting it becomes.
VARIABLES: dict[str, dict[str, tuple[str, str, Any]]] = {
    SEED_0: {
        "DOCUSAURUS_BASE_URL": ("source.sitemap", "https://x.org/book/", "https://x.org/book/sitemap.xml"),
        "SIMILARITY_THRESHOLD": ("retrieval.min_similarity", "0.6", 0.6),
        "TOP_K_RESULTS": ("retrieval.top_k", "7", 7),
    },
    SEED_1: {
        "QDRANT_COLLECTION_NAME": ("qdrant.collection", "c", "c"),
        "COHERE_MODEL": ("embedding.model", "m", "m"),
        "RETRIEVAL_THRESHOLD": ("retrieval.min_similarity", "0.4", 0.4),
    },
    SEED_2: {"QDRANT_COLLECTION_NAME": ("qdrant.collection", "c", "c")},
    SEED_3: {"QDRANT_COLLECTION_NAME": ("qdrant.collection", "c", "c")},
    SEED_4: {
        "QDRANT_COLLECTION_NAME": ("qdrant.collection", "c", "c"),
        "COHERE_MODEL": ("embedding.model", "m", "m"),
        "BASE_URL": ("source.sitemap", "http://localhost:3002/sitemap.xml", "http://localhost:3002/sitemap.xml"),
    },
}


def under(folder: Path, profile: str, environ: Mapping[str, str] | None = None, **sections: Any) -> Suite:
    written = {"suite": "book", "profile": profile, **sections}
    return resolve_suite(load_suite(write(folder, written)), {**SHARED, **(environ or {})})


def at(suite: Suite, key: str) -> Any:
    value: Any = suite
    for part in key.split("."):
        value = getattr(value, part)
    return value


def test_the_profiles_are_the_five_of_the_design():
    assert list(PROFILES) == list(TABLE)
    assert [profile.seed[:3] for profile in PROFILES.values()] == ["000", "001", "002", "003", "004"]
    assert all(PROFILES[name].name == name for name in PROFILES)


@pytest.mark.parametrize("profile", TABLE)
def test_a_profile_judges_and_requires_what_the_design_says(tmp_path: Path, profile: str):
    suite = under(tmp_path, profile)
    judged, required = TABLE[profile]
    assert set(suite.retrieval.judge or ()) == judged
    gates = {name: gate.threshold for name, gate in gates_of(suite).items() if gate.required}
    assert gates == {**required, "critical_queries": 1.0}


@pytest.mark.parametrize("profile", SETTINGS)
def test_a_profile_has_the_names_and_numbers_of_its_seed(tmp_path: Path, profile: str):
    collection, model, threshold, text, page, required = SETTINGS[profile]
    suite = under(tmp_path, profile)
    assert suite.qdrant.collection == collection
    assert (suite.embedding.provider, suite.embedding.model) == ("cohere", model)
    assert suite.embedding.query_input_type == "search_query"
    assert suite.retrieval.min_similarity == threshold
    assert (suite.retrieval.top_k, suite.retrieval.k) == (5, (3, 5))
    assert suite.retrieval.relevance_similarity == 0.5
    assert suite.payload.fields["text"] == text
    assert suite.payload.fields["source_url"] == page
    assert set(suite.payload.required) == required


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        (SEED_0, {"module": "module_name", "chapter": "chapter_id", "headings": "heading_hierarchy",
                  "token_count": "token_count", "chunk_index": "chunk_index", "model": "model_version"}),
        (SEED_1, {"module": "module", "chapter": "chapter", "chunk_index": "chunk_index", "text_hash": "text_hash",
                  "model": "model", "original_length": "original_length", "embedded_at": "processed_at"}),
        (SEED_2, {"title": "title", "headings": "heading", "token_count": "token_count", "chunk_index": "position"}),
        (SEED_3, {"title": "title", "chunk_index": "chunk_index", "token_count": "token_count",
                  "embedded_at": "embedded_at"}),
        (SEED_4, {"title": "source_title", "chunk_id": "chunk_id", "text_hash": "text_hash", "model": "model",
                  "embedded_at": "created_at"}),
    ],
)  # fmt: skip
def test_a_profile_maps_the_payload_of_its_seed(tmp_path: Path, profile: str, names: dict[str, str]):
    fields = under(tmp_path, profile).payload.fields
    assert {name: fields[name] for name in names} == names
    assert set(fields) == set(CANONICAL_FIELDS)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_sets_only_keys_that_a_suite_has(profile: str):
    known = set(key_paths(Suite))
    for section, values in PROFILES[profile].settings.items():
        assert {f"{section}.{name}" for name in values} <= known
    assert {variable.key for variable in PROFILES[profile].variables} <= known
    assert {rule.key for rule in PROFILES[profile].setting_rules} <= known


@pytest.mark.parametrize("profile", VARIABLES)
def test_a_profile_reads_the_variables_of_its_seed(tmp_path: Path, profile: str):
    expected = {name: key for name, (key, _, _) in VARIABLES[profile].items()}
    shared = {"COHERE_API_KEY": "embedding.api_key", "QDRANT_URL": "qdrant.url", "QDRANT_API_KEY": "qdrant.api_key"}
    assert {variable.name: variable.key for variable in PROFILES[profile].variables} == {**shared, **expected}
    suite = under(tmp_path, profile, {name: text for name, (_, text, _) in VARIABLES[profile].items()})
    assert {key: at(suite, key) for key, _, _ in VARIABLES[profile].values()} == {
        key: setting for key, _, setting in VARIABLES[profile].values()
    }
    assert suite.qdrant.url == "http://q"
    for settings in (suite.qdrant, suite.embedding):
        assert settings.api_key is not None
        assert settings.api_key.get_secret_value() == "k"


def test_all_variables_that_a_seed_requires_are_named_at_once_when_none_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COHERE_API_KEY", "CO_API_KEY", "QDRANT_URL", "QDRANT_API_KEY", "DOCUSAURUS_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    suite = load_suite(write(tmp_path, {"suite": "book", "profile": SEED_0}))
    with pytest.raises(SuiteError) as caught:
        resolve_suite(suite)
    names = "COHERE_API_KEY, QDRANT_URL, QDRANT_API_KEY, DOCUSAURUS_BASE_URL"
    told = f"the environment variables {names}, required under profile"
    assert told in str(one_line(caught.value))


@pytest.mark.parametrize(
    ("profile", "written", "lacking"),
    [
        (SEED_0, {}, ["QDRANT_API_KEY", "DOCUSAURUS_BASE_URL"]),
        (SEED_0, {"criteria": {"coverage": None}}, ["QDRANT_API_KEY"]),
        (SEED_0, {"source": None, "qdrant": {"path": "q"}}, []),
        (SEED_0, {"source": {"sitemap": "s.xml"}, "qdrant": {"api_key": "${RAGVAL_TEST_KEY:-}"}}, []),
        (SEED_1, {"qdrant": {"url": "http://localhost"}}, []),
        (SEED_3, {}, ["QDRANT_API_KEY"]),
        (SEED_4, {"qdrant": {"path": "q"}}, ["BASE_URL"]),
        (SEED_4, {"qdrant": {"path": "q"}, "criteria": {"content_integrity": None}}, []),
    ],
)
def test_a_variable_that_a_seed_requires_is_missed_unless_the_suite_does_without(
    tmp_path: Path, profile: str, written: dict[str, Any], lacking: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("QDRANT_URL", "http://q")
    suite = resolve_suite(load_suite(write(tmp_path, {"suite": "book", "profile": profile, **written})))
    if not lacking:
        check_variables(suite)
        return
    with pytest.raises(SuiteError) as caught:
        check_variables(suite)
    assert f" {', '.join(lacking)}, required under profile {profile}" in str(one_line(caught.value))


def test_retries_are_those_of_the_seeds(tmp_path: Path):
    assert under(tmp_path, SEED_0).retry.max == 0
    assert (under(tmp_path, SEED_3).retry.max, under(tmp_path, SEED_3).retry.delay_s) == (3, 1.0)


def test_constants_that_are_no_settings():
    profiles = list(PROFILES.values())
    assert [profile.vector_size for profile in profiles] == [None, None, None, 1024, None]
    assert {profile.max_input_tokens for profile in profiles} == {512}
    assert [profile.plain_headings for profile in profiles] == [False, False, True, False, False]
    assert [profile.id_rule for profile in profiles] == [None, None, None, "{source_url}_{chunk_index}", None]


@pytest.mark.parametrize(
    ("profile", "criterion", "threshold"),
    [(SEED_0, "avg_similarity", 0.70), (SEED_0, "latency_p95_ms", 2000), (SEED_1, "latency_p95_ms", 500),
     (SEED_2, "retrieved_metadata_completeness", 1.0), (SEED_3, "hit_at_5", 0.80), (SEED_3, "latency_p95_ms", 2000)],
)  # fmt: skip
def test_what_the_wider_projects_ask_for_is_shown_and_not_required(
    tmp_path: Path, profile: str, criterion: str, threshold: float
):
    gate = gates_of(under(tmp_path, profile))[criterion]
    assert (gate.threshold, gate.required) == (threshold, False)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("query", "field"),
    [({"query": " \u200b\n"}, "query"), ({"query": "What is it?", "min_similarity": -0.01}, "min_similarity"),
     ({"query": "What is it?", "min_similarity": 1.01}, "min_similarity"), ({"min_similarity": 0.5}, "query_text")],
)  # fmt: skip
def test_no_profile_takes_a_query_without_text_or_a_threshold_out_of_range(
    tmp_path: Path, profile: str, query: dict[str, Any], field: str
):
    with pytest.raises(SuiteError) as caught:
        load_queries(under(tmp_path, profile, queries=[{"query": "This one is fine"}, query]))
    assert (caught.value.key or "").startswith("queries[1]")
    assert field in str(caught.value)


FATAL = [
    (SEED_1, {"query": "x", "expected_results": []}, "expected_results", "at least one expected chunk"),
    (SEED_2, {"query": "ROS2"}, "query", "at least 5 characters"),
    (SEED_2, {"query_text": "  ROS2   "}, "query_text", "at least 5 characters"),
    (SEED_2, {"query": "What is ROS 2?", "category": "Robots"}, "category", "must be one of: ROS 2; Digital Twin"),
    (SEED_2, {"query": "What is ROS 2?", "category": "ros 2"}, "category", "must be one of"),
    (SEED_2, {"query": "What is ROS 2?", "relevant_urls": ["docs/a"]}, "relevant_urls", "http(s) URLs"),
    (SEED_2, {"query": "What is ROS 2?", "relevant_urls": []}, "relevant_urls", "at least one"),
    (SEED_2, {"query": "What is ROS 2?", "relevant_urls": ["http://["]}, "relevant_urls", "http(s) URLs"),
    (SEED_3, {"text": "x" * 8001}, "text", "1 to 8000 characters"),
    (SEED_3, {"text": "x" * 8000 + "\n"}, "text", "1 to 8000 characters"),
    (SEED_3, {"query": "x", "top_k": 51}, "top_k", "must be 1 to 50"),
    (SEED_4, {"query": "x" * 1001}, "query", "at most 1000 characters"),
]


@pytest.mark.parametrize(("profile", "query", "field", "says"), FATAL)
def test_a_query_that_breaks_a_rule_of_its_seed_is_refused(
    tmp_path: Path, profile: str, query: dict[str, Any], field: str, says: str
):
    with pytest.raises(SuiteError) as caught:
        load_queries(under(tmp_path, profile, queries=[{"query": "This one is fine"}, query]))
    assert caught.value.key == f"queries[1].{field}"
    assert says in str(caught.value)
    assert f"(profile {profile})" in str(caught.value)
    assert str(caught.value).isprintable()
    assert caught.value.remedy


@pytest.mark.parametrize(("profile", "field"), [(SEED_1, "expected_results"), (SEED_2, "relevant_urls")])
def test_a_query_that_must_find_nothing_may_say_that_it_expects_nothing(tmp_path: Path, profile: str, field: str):
    negative = {"query": "Who won the cup?", "negative": True, field: []}
    assert len(load_queries(under(tmp_path, profile, queries=[negative]))) == 1


def test_a_rule_that_the_ground_truth_breaks_is_an_error_of_its_file(tmp_path: Path):
    (tmp_path / "q.json").write_text('[{"query": "What is ROS 2?"}]')
    (tmp_path / "t.json").write_text('[{"query": "What is ROS 2?", "relevant_urls": ["docs/a"]}]')
    with pytest.raises(SuiteError) as caught:
        load_queries(under(tmp_path, SEED_2, queries={"file": "q.json", "ground_truth": "t.json"}))
    assert caught.value.file == str(tmp_path / "t.json")
    assert "relevant_urls of query q1 must be http(s) URLs" in str(caught.value)


@pytest.mark.parametrize("query", [query for _, query, _, _ in FATAL if query.get("top_k") is None])
def test_without_the_profile_its_rules_do_not_hold(tmp_path: Path, query: dict[str, Any]):
    assert len(load_queries(suite_of(tmp_path, queries=[query]))) == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_a_query_that_is_longer_than_the_model_reads_is_cut_as_every_seed_lets_cohere_do(profile: str) -> None:
    assert PROFILES[profile].settings["embedding"]["long_queries"] == "cut"


def test_seed_000s_pattern_for_modules_is_a_warning_only(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    queries = [
        {"query": "a", "expected_module": "Module 1 Ros2", "min_similarity": 0.7},
        {"query": "b", "expected_module": "Intro", "min_similarity": 0.65},
    ]
    with caplog.at_level(logging.WARNING):
        assert len(load_queries(under(tmp_path, SEED_0, queries=queries), advise=True)) == 2
    (record,) = caplog.records
    assert "queries[1].expected_module" in record.getMessage()
    assert '"Module N Name"' in record.getMessage()


@pytest.mark.parametrize(
    ("profile", "fields"),
    [(SEED_0, ["expected_module", "min_similarity"]), (SEED_1, ["expected_results"]), (SEED_2, ["category"]),
     (SEED_3, ["expected_keywords"]), (SEED_4, ["relevant_urls"])],
)  # fmt: skip
def test_what_a_seed_asks_of_every_query_is_missed_with_one_warning(
    tmp_path: Path, profile: str, fields: list[str], caplog: pytest.LogCaptureFixture
):
    queries = ["What is ROS 2?", "What is URDF?", {"query": "What is tennis?", "negative": True}]
    with caplog.at_level(logging.WARNING):
        load_queries(under(tmp_path, profile, queries=queries), advise=True)
    messages = [record.getMessage() for record in caplog.records]
    assert [f"2 of 3 queries have no {field}, which profile {profile} requires" in message
            for field, message in zip(fields, messages, strict=True)] == [True] * len(fields)  # fmt: skip


def test_judgements_are_seed_004s_relevant_pages(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "t.tsv").write_text("1\tx\n")
    (tmp_path / "q.txt").write_text("1 0 d 1\n")
    with caplog.at_level(logging.WARNING):
        load_queries(under(tmp_path, SEED_4, queries={"topics": "t.tsv", "qrels": "q.txt"}), advise=True)
    assert caplog.text == ""


def test_a_rule_that_many_queries_break_is_reported_once_and_only_on_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    queries = [{"query": f"{n}?", "expected_module": "intro", "min_similarity": 0.7} for n in range(400)]
    suite = under(tmp_path, SEED_0, queries=queries)
    with caplog.at_level(logging.WARNING):
        load_queries(suite)
        assert caplog.records == []
        load_queries(suite, advise=True)
    (record,) = caplog.records
    assert "queries[0].expected_module: 'intro'" in record.getMessage()
    assert record.getMessage().endswith("and 399 more like it")


@pytest.mark.parametrize("top_k", [51, 1000])
def test_seed_003_caps_top_k_in_the_suite_too(tmp_path: Path, top_k: int):
    written = {"suite": "book", "profile": SEED_3, "retrieval": {"top_k": top_k}}
    error = refused(tmp_path, written, SHARED)
    assert error.key == "retrieval.top_k"
    assert "must be 1 to 50 (profile retrieval-pipeline)" in str(error)
    assert under(tmp_path, SEED_3, retrieval={"top_k": 50}).retrieval.top_k == 50
    assert under(tmp_path, SEED_0, retrieval={"top_k": 51}).retrieval.top_k == 51


def test_a_profile_that_is_not_there_names_the_nearest():
    assert get_profile(None) is None
    assert get_profile(SEED_2) is PROFILES[SEED_2]
    with pytest.raises(
        SuiteError, match=r"r\.yaml: profile: there is no profile rag_validation\. Did you mean rag-val"
    ):
        get_profile("rag_validation", file="r.yaml")
