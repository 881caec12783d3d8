"""Definitions load without any variable set; a run reads them, and says which one is missing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.gates import criteria_of, gates_of
from ragval_pipeline.suite.load import load_suite, resolve_suite
from ragval_pipeline.suite.profiles.table import PROFILES
from tests.suite.test_keys import EVERYTHING
from tests.suite.writing import SMALLEST, one_line, write

UNSET = "${RAGVAL_TEST_UNSET}"


def leaves(settings: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place of a suite that a placeholder can stand in, whole sections included."""
    if path:
        yield path
    inside = (
        settings.items() if isinstance(settings, dict) else enumerate(settings) if isinstance(settings, list) else ()
    )
    for key, value in inside:
        yield from leaves(value, (*path, key))


def with_unset(path: tuple[str | int, ...]) -> dict[str, Any]:
    settings = copy.deepcopy(EVERYTHING)
    holder: Any = settings
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = UNSET
    return settings


PLACES = [*list(leaves({**EVERYTHING, "queries": {"topics": "t", "qrels": "q"}})), ("queries", "file")]


def key_of(path: tuple[str | int, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@pytest.mark.parametrize("path", [p for p in PLACES if p[:1] != ("queries",) or p == ("queries",)], ids=key_of)
def test_a_suite_loads_with_an_unset_variable_at_any_key_and_a_run_names_it(
    tmp_path: Path, path: tuple[str | int, ...]
):
    suite = load_suite(write(tmp_path, with_unset(path)))
    assert gates_of(suite).keys() == {criterion.name for criterion in criteria_of(suite)}
    with pytest.raises(SuiteError) as caught:
        resolve_suite(suite, {})
    error = one_line(caught.value)
    assert error.file == str(tmp_path / "ragval.yaml")
    assert error.key == key_of(path)
    assert "the environment variable RAGVAL_TEST_UNSET is not set" in str(error)


def all_unset(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: all_unset(entry) for key, entry in value.items()}
    return [all_unset(entry) for entry in value] if isinstance(value, list) else UNSET


@pytest.mark.parametrize(
    "queries",
    [UNSET, [{"query_text": UNSET, "top_k": UNSET}], {"file": UNSET, "ground_truth": UNSET},
     {"topics": UNSET, "qrels": UNSET}],
    ids=["file", "list", "files", "trec"],
)  # fmt: skip
def test_a_suite_of_nothing_but_placeholders_loads(tmp_path: Path, queries: Any):
    suite = load_suite(write(tmp_path, {**all_unset(EVERYTHING), "queries": queries}))
    assert suite.suite == "ragval"
    assert suite.profile is None
    assert suite.retrieval.top_k == 5
    assert (suite.qdrant.url, suite.qdrant.path) == (UNSET, None)
    with pytest.raises(SuiteError, match=r"suite: the environment variable RAGVAL_TEST_UNSET is not set"):
        resolve_suite(suite, {})


@pytest.mark.parametrize(
    ("file", "name"), [("Physical AI-Book.yaml", "physical_ai_book"), ("2024.yaml", "suite_2024"), ("_.yml", "suite")]
)
def test_an_unset_suite_name_becomes_the_files(tmp_path: Path, file: str, name: str):
    assert load_suite(write(tmp_path, {**SMALLEST, "suite": UNSET}, file)).suite == name


def test_a_place_that_only_the_environment_knows_is_checked_when_a_run_starts(tmp_path: Path):
    place = {"url": "${RAGVAL_TEST_URL:-}", "path": "${RAGVAL_TEST_PATH:-}", "collection": "c"}
    suite = load_suite(write(tmp_path, {**SMALLEST, "qdrant": place}))
    assert resolve_suite(suite, {"RAGVAL_TEST_URL": "http://x"}).qdrant.url == "http://x"
    assert resolve_suite(suite, {"RAGVAL_TEST_PATH": "data"}).qdrant.path == tmp_path / "data"
    for environ in ({}, {"RAGVAL_TEST_URL": "http://x", "RAGVAL_TEST_PATH": "data"}):
        with pytest.raises(SuiteError, match="exactly one of url and path"):
            resolve_suite(suite, environ)


def test_an_unset_list_entry_leaves_the_others(tmp_path: Path):
    suite = load_suite(write(tmp_path, {**SMALLEST, "retrieval": {"k": [1, UNSET, 10]}}))
    assert suite.retrieval.k == (1, 10)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_loads_before_its_variables_are_set(tmp_path: Path, profile: str):
    suite = load_suite(write(tmp_path, {"suite": "book", "profile": profile}))
    assert suite.qdrant.collection == PROFILES[profile].settings["qdrant"]["collection"]
    with pytest.raises(SuiteError) as caught:
        resolve_suite(suite, {})
    assert "set the environment variable QDRANT_URL" in str(one_line(caught.value))
    assert resolve_suite(suite, {"QDRANT_URL": "http://x"}).qdrant.url == "http://x"


def test_a_source_whose_sitemap_a_variable_names_loads_before_it_is_set(tmp_path: Path):
    written = {"suite": "book", "profile": "retrieval-pipeline-testing", "source": {"include": ["/docs/**"]}}
    suite = load_suite(write(tmp_path, {**written, "qdrant": {"path": "q"}}))
    with pytest.raises(SuiteError) as caught:
        resolve_suite(suite, {})
    assert one_line(caught.value).key == "source"
    assert "DOCUSAURUS_BASE_URL" in str(caught.value)
    read = resolve_suite(suite, {"DOCUSAURUS_BASE_URL": "https://x.org/"})
    assert read.source is not None
    assert read.source.sitemap == "https://x.org/sitemap.xml"


@pytest.mark.parametrize(
    "settings",
    [{"suite": "book"}, {"suite": "book", "qdrant": {"collection": "c"}}, {**SMALLEST, "retrieval": {"top_k": 0}},
     {**SMALLEST, "source": {}}, {**SMALLEST, "topk": UNSET}],
)  # fmt: skip
def test_what_no_variable_can_mend_is_refused_when_definitions_load(tmp_path: Path, settings: dict[str, Any]):
    with pytest.raises(SuiteError):
        load_suite(write(tmp_path, settings))
