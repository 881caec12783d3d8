"""The demo's ingestion: a code location that knows nothing of ragval's assets."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import dagster as dg
import pytest

from ragval_pipeline.demo.definitions import defs, physical_ai_book_index
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.build import definitions_of_suites, demo_suite, find_suites
from tests.orchestration.world import QUIET

SUITE = """\
suite: {name}
qdrant: {{url: "http://127.0.0.1:9", collection: docs}}
queries: [{{query_text: "What is it?"}}]
"""


def suite_file(folder: Path, name: str, file: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (file or f"{name}.yaml")
    path.write_text(SUITE.format(name=name), encoding="utf-8")
    return path


def names(value: str) -> list[str]:
    return [suite.suite for suite in find_suites({"RAGVAL_SUITES": value})]


def test_paths_and_globs_are_separated_as_paths_are(tmp_path: Path) -> None:
    one = suite_file(tmp_path / "one", "first")
    suite_file(tmp_path / "many" / "deep", "second")
    suite_file(tmp_path / "many", "third")
    assert names(os.pathsep.join([str(one), str(tmp_path / "many" / "**" / "*.yaml")])) == ["first", "second", "third"]


def test_relative_patterns_start_at_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite_file(tmp_path / "suites", "first")
    monkeypatch.chdir(tmp_path)
    assert names("suites/*.yaml") == ["first"]


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"gone\.yaml"):
        names(str(tmp_path / "gone.yaml"))


def test_two_suites_of_one_name_are_an_error_that_names_the_second_file(tmp_path: Path) -> None:
    suite_file(tmp_path, "same", "a.yaml")
    suite_file(tmp_path, "same", "b.yaml")
    with pytest.raises(SuiteError, match=r"b\.yaml: suite: there is a second suite called same"):
        names(str(tmp_path / "*.yaml"))


def test_suites_are_merged_into_one_code_location(tmp_path: Path) -> None:
    for name in ("first", "second"):
        suite_file(tmp_path, name)
    defs = definitions_of_suites({"RAGVAL_SUITES": str(tmp_path / "*.yaml")})
    dg.Definitions.validate_loadable(defs)
    graph = defs.resolve_asset_graph()
    assert {key.path[0] for key in graph.materializable_asset_keys} == {"first", "second"}
    for name in ("first", "second"):
        assert defs.resolve_job_def(f"{name}_validation")
        assert defs.resolve_schedule_def(f"{name}_schedule")
        job_assets = defs.resolve_job_def(f"{name}_validation").asset_layer.executable_asset_keys
        assert {key.path[0] for key in job_assets} == {name}


def test_what_is_materialised_without_a_job_runs_in_one_process_too(tmp_path: Path) -> None:
    suite_file(tmp_path, "first")
    assert definitions_of_suites({"RAGVAL_SUITES": str(tmp_path / "*.yaml")}).executor is dg.in_process_executor


@pytest.mark.parametrize("value", [None, "", " "])
def test_without_suites_there_is_the_demo_that_lives_in_the_working_directory(
    value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [suite] = find_suites({} if value is None else {"RAGVAL_SUITES": value})
    assert suite.suite == "physical_ai_book"
    assert suite.qdrant.path == tmp_path / ".ragval" / "demo" / "qdrant"
    assert not list(tmp_path.iterdir())


def test_a_demo_that_was_built_here_is_read_with_its_changes(
    demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = tmp_path / ".ragval" / "demo"
    built.mkdir(parents=True)
    text = demo.suite_file.read_text(encoding="utf-8")
    (built / "ragval.yaml").write_text(text.replace("top_k: 5", "top_k: 7"), encoding="utf-8")
    shutil.copy(demo.home / "queries.yaml", built)
    monkeypatch.chdir(tmp_path)
    [suite] = find_suites({})
    assert suite.retrieval.top_k == 7
    assert suite.folder == built


def test_a_query_file_that_a_glob_matches_is_named_as_what_it_probably_is(tmp_path: Path) -> None:
    suite_file(tmp_path, "first")
    (tmp_path / "queries.yaml").write_text("- query_text: What is it?\n", encoding="utf-8")
    with pytest.raises(SuiteError, match=r"queries\.yaml: this is a list \(a query file\?\).* with `suite:`"):
        names(str(tmp_path / "*.yaml"))


def test_it_holds_the_one_asset_that_the_demos_suite_waits_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [key] = defs.resolve_asset_graph().materializable_asset_keys
    assert key.to_user_string() == demo_suite().automation.after_asset
    assert defs.resolve_job_def("demo_ingestion")
    assert defs.executor is dg.in_process_executor


def test_materialising_it_builds_the_index_and_plots_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = dg.materialize([physical_ai_book_index], run_config=QUIET)
    [event] = result.get_asset_materialization_events()
    metadata = event.materialization.metadata
    assert (metadata["dagster/row_count"].value, metadata["pages"].value) == (91, 13)
    assert (tmp_path / ".ragval" / "demo" / "qdrant" / "meta.json").is_file()
    assert demo_suite().qdrant.path == tmp_path / ".ragval" / "demo" / "qdrant"
