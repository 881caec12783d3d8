"""Flag over suite over the profile's variables over profile over default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.load import load_suite, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.settings import Layer, layer_of, merge_layers, nest
from tests.suite.writing import SMALLEST, one_line, refused, write

SEED_0 = "retrieval-pipeline-testing"


def read(
    folder: Path,
    written: dict[str, Any],
    environ: dict[str, str] | None = None,
    flags: dict[str, Any] | None = None,
) -> Suite:
    return resolve_suite(load_suite(write(folder, {**SMALLEST, **written}), flags=flags), environ or {})


def test_each_place_wins_over_those_below_it(tmp_path: Path):
    variable = {"SIMILARITY_THRESHOLD": "0.6"}
    suite = {"retrieval": {"min_similarity": 0.5}}
    flag = {"retrieval": {"min_similarity": 0.4}}
    under = {"profile": "retrieval-validation"}
    assert read(tmp_path, {}).retrieval.min_similarity == 0.70
    assert read(tmp_path, under).retrieval.min_similarity == 0.3
    assert read(tmp_path, under, {"RETRIEVAL_THRESHOLD": "0.6"}).retrieval.min_similarity == 0.6
    assert read(tmp_path, {"profile": SEED_0, **suite}, variable).retrieval.min_similarity == 0.5
    assert read(tmp_path, {"profile": SEED_0, **suite}, variable, flag).retrieval.min_similarity == 0.4


@pytest.mark.parametrize("profile", [None, "rag-validation"])
def test_a_variable_counts_only_under_its_own_profile(tmp_path: Path, profile: str | None):
    environ = {"SIMILARITY_THRESHOLD": "0.11", "TOP_K_RESULTS": "9", "DOCUSAURUS_BASE_URL": "https://x.org"}
    suite = read(tmp_path, {"profile": profile}, environ)
    assert suite.retrieval.min_similarity in (0.70, 0.5)
    assert suite.retrieval.top_k == 5
    assert suite.source is None


def test_blank_variables_count_as_unset_and_blanks_around_values_do_not_matter(tmp_path: Path):
    suite = read(tmp_path, {"profile": SEED_0}, {"SIMILARITY_THRESHOLD": " ", "TOP_K_RESULTS": " 7\n"})
    assert (suite.retrieval.min_similarity, suite.retrieval.top_k) == (0.70, 7)


@pytest.mark.parametrize(
    ("variable", "value", "key"),
    [("TOP_K_RESULTS", "five", "retrieval.top_k"), ("TOP_K_RESULTS", "0", "retrieval.top_k"),
     ("SIMILARITY_THRESHOLD", "1.7", "retrieval.min_similarity"), ("SIMILARITY_THRESHOLD", "70%",
                                                                   "retrieval.min_similarity")],
)  # fmt: skip
def test_a_wrong_variable_of_a_profile_is_named(tmp_path: Path, variable: str, value: str, key: str):
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, {"profile": SEED_0}, {variable: value})
    error = one_line(caught.value)
    assert error.file == f"environment variable {variable}"
    assert error.key == key
    assert error.remedy == "Correct the variable, or unset it."


def test_a_wrong_value_in_the_suite_is_not_said_to_be_missing_and_the_profiles_is_named(tmp_path: Path):
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, {"profile": "retrieval-validation", "retrieval": {"min_similarity": "low"}})
    expected = "Correct it or leave the key out: profile retrieval-validation sets 0.3."
    assert one_line(caught.value).remedy == expected


@pytest.mark.parametrize("written", [{"path": "./data", "collection": "c"}, {"path": "data"}])
def test_an_embedded_folder_in_the_suite_wins_over_the_url_in_the_environment(tmp_path: Path, written: dict[str, Any]):
    suite = read(
        tmp_path, {"profile": SEED_0, "qdrant": written}, {"QDRANT_URL": "http://cloud", "QDRANT_API_KEY": "k"}
    )
    assert (suite.qdrant.url, suite.qdrant.path) == (None, tmp_path / "data")


def test_a_url_on_the_command_line_wins_over_an_embedded_folder_in_the_suite(tmp_path: Path):
    suite = read(tmp_path, {}, flags={"qdrant": {"url": "http://x"}})
    assert (suite.qdrant.url, suite.qdrant.path) == ("http://x", None)
    assert suite.qdrant.collection == "chunks"


def test_a_suite_can_leave_out_the_source_that_a_variable_names(tmp_path: Path):
    environ = {"DOCUSAURUS_BASE_URL": "https://x.org"}
    assert read(tmp_path, {"profile": SEED_0}, environ).source is not None
    assert read(tmp_path, {"profile": SEED_0, "source": None}, environ).source is None


def test_mappings_merge_and_lists_replace(tmp_path: Path):
    suite = read(tmp_path, {"profile": SEED_0, "payload": {"fields": {"title": "heading"}}, "retrieval": {"k": [10]}})
    assert suite.payload.fields["title"] == "heading"
    assert suite.payload.fields["module"] == "module_name"
    assert suite.retrieval.k == (10,)
    assert suite.retrieval.judge == ("score", "module")


def test_required_fields_of_a_profile_follow_the_suites_own_names(tmp_path: Path):
    moved = read(tmp_path, {"profile": "rag-validation", "payload": {"fields": {"source_url": "meta.link"}}})
    assert moved.payload.required == ("meta.link", "title", "heading", "text")
    chosen = {"fields": {"source_url": "link"}, "required": ["url"]}
    assert read(tmp_path, {"profile": "rag-validation", "payload": chosen}).payload.required == ("url",)


def test_seed_002s_score_is_judged_by_the_suites_own_relevance(tmp_path: Path):
    under = {"profile": "rag-validation"}
    own = {"relevance_similarity": 0.35}
    assert read(tmp_path, {**under, "retrieval": own}).retrieval.min_similarity == 0.35
    flags = {"retrieval": {"relevance_similarity": 0.25}}
    assert read(tmp_path, {**under, "retrieval": own}, flags=flags).retrieval.min_similarity == 0.25
    both = {**own, "min_similarity": 0.6}
    assert read(tmp_path, {**under, "retrieval": both}).retrieval.min_similarity == 0.6
    assert read(tmp_path, {"profile": "retrieval-validation", "retrieval": own}).retrieval.min_similarity == 0.3
    wrong = refused(tmp_path, {**SMALLEST, **under, "retrieval": {"relevance_similarity": 1.7}})
    assert "retrieval.relevance_similarity" in str(wrong)


@pytest.mark.parametrize("provider", ["static", "mine:Embedder"])
def test_another_provider_takes_neither_model_nor_key_from_the_profile(tmp_path: Path, provider: str):
    environ = {"COHERE_API_KEY": "k", "COHERE_MODEL": "embed-v4.0"}
    under = {"profile": "retrieval-validation"}
    other = read(tmp_path, {**under, "embedding": {"provider": provider}}, environ).embedding
    assert (other.provider, other.model, other.api_key, other.dimension) == (provider, None, None, None)
    same = read(tmp_path, {**under, "embedding": {"provider": "cohere"}}, environ).embedding
    assert same.model == "embed-v4.0"
    assert same.api_key is not None


def test_later_layers_win_and_the_layer_of_a_key_is_known():
    layers = [Layer("a", {"x": {"y": 1, "z": [1, 2]}}), Layer("b", {"x": {"z": [3]}}), Layer("c", {"w": None})]
    assert merge_layers(layers) == {"x": {"y": 1, "z": [3]}, "w": None}
    assert layer_of(["x", "y"], layers) is layers[0]
    assert layer_of(["x", "z", 0], layers) is layers[1]
    assert layer_of(["x", "q"], layers) is None
    assert nest("a.b.c", 1) == {"a": {"b": {"c": 1}}}
    assert layers[0].settings == {"x": {"y": 1, "z": [1, 2]}}


def test_the_env_file_beside_the_suite_gives_what_the_environment_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / ".env").write_text("TOP_K_RESULTS=7\nSIMILARITY_THRESHOLD=0.6\nRAGVAL_TEST_PLACE=beside\n")
    monkeypatch.setenv("SIMILARITY_THRESHOLD", "0.4")
    monkeypatch.setenv("TOP_K_RESULTS", " ")
    written = {**SMALLEST, "profile": SEED_0, "report_uri": "./${RAGVAL_TEST_PLACE}"}
    suite = resolve_suite(load_suite(write(tmp_path, written)))
    assert (suite.retrieval.top_k, suite.retrieval.min_similarity) == (7, 0.4)
    assert suite.report_uri == str(tmp_path / "beside")
    assert "RAGVAL_TEST_PLACE" not in os.environ


@pytest.mark.parametrize(
    ("environ", "key"),
    [({"COHERE_API_KEY": "one", "CO_API_KEY": "two"}, "one"), ({"CO_API_KEY": "two"}, "two"), ({}, None)],
)
@pytest.mark.parametrize("provider", ["cohere", "static"])
def test_cohere_takes_its_key_from_its_own_variables(
    tmp_path: Path, environ: dict[str, str], key: str | None, provider: str
):
    held = read(tmp_path, {"embedding": {"provider": provider}}, environ).embedding.api_key
    assert (held and held.get_secret_value()) == (key if provider == "cohere" else None)
    written = {"embedding": {"provider": provider, "api_key": "own"}}
    own = read(tmp_path, written, environ).embedding.api_key
    assert own is not None
    assert own.get_secret_value() == "own"
