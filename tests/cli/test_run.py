from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.collections_ import langchain_payloads, store
from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]

pytestmark = pytest.mark.usefixtures("without_gx")


def delete_page(home: Home, url: str) -> None:
    from qdrant_client import QdrantClient, models

    here = models.Filter(must=[models.FieldCondition(key="source_url", match=models.MatchValue(value=url))])
    with closing(QdrantClient(path=str(home.folder / "qdrant"))) as client:
        client.delete(home.collection, points_selector=models.FilterSelector(filter=here))


def criteria(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in report["criteria"]}


def test_a_good_index_ends_with_zero_and_says_where_the_report_is(home: Home, ragval: Ragval) -> None:
    ended = ragval("run", "-s", home.suite)
    assert ended.code == 0
    assert "PASS" in ended.out
    [file] = home.reports()
    assert str(file.parent.relative_to(home.folder.parent) / "report.html") in ended.out
    assert "ragval: " not in ended.err


def test_a_criterion_that_is_not_met_ends_with_one_and_names_the_page(home: Home, ragval: Ragval) -> None:
    url = "https://physical-ai-book.example/docs/module-3-isaac/ch1-isaac-sim"
    delete_page(home, url)
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 1
    assert "1 of 13 pages is not in the index" in ended.message
    assert url in ended.out
    assert len(home.reports()) == 1


def test_json_prints_the_report_file_exactly_and_nothing_else(home: Home, ragval: Ragval) -> None:
    ended = ragval("run", "-s", home.suite, "--json", "--only", "coverage")
    assert ended.stdout == home.reports()[0].read_bytes()
    assert ended.json["verdict"] == "pass"


def test_only_measures_the_groups_that_it_names(home: Home, ragval: Ragval) -> None:
    ended = ragval("run", "-s", home.suite, "--json", "--only", "coverage, chunks", "--only", "chunks")
    found = criteria(ended.json)
    assert ended.code == 0
    assert found["coverage"]["verdict"] == "met"
    assert found["query_pass_rate"]["reason_code"] == "not_selected"
    assert found["metadata_completeness"]["reason_code"] == "not_selected"


def test_a_variable_that_the_profile_requires_ends_with_two_and_its_name_unless_the_suite_does_without(
    home: Home, ragval: Ragval
) -> None:
    home.edit(profile="retrieval-pipeline-testing", source=None)
    ended = ragval("run", "-s", home.suite, "--only", "coverage,metadata")
    assert (ended.code, home.reports()) == (2, [])
    assert "DOCUSAURUS_BASE_URL" in ended.message
    assert "DOCUSAURUS_BASE_URL" in ragval("doctor", "-s", home.suite).message
    with home.suite.open("a", encoding="utf-8") as file:
        file.write("source: null\n")
    assert ragval("run", "-s", home.suite, "--only", "coverage,metadata").code == 4
    home.edit(source=None, criteria=None)
    home.edit(criteria={"coverage": None})
    assert ragval("run", "-s", home.suite, "--only", "coverage,metadata").code == 0


def test_output_holds_the_same_files_as_the_run_folder(home: Home, ragval: Ragval) -> None:
    ended = ragval("run", "-s", home.suite, "--only", "coverage", "--output", "out/here")
    assert ended.code == 0
    folder, copy = home.reports()[0].parent, home.folder.parent / "out" / "here"
    names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert names == {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()}
    assert "out/here" in ended.out


def test_an_output_that_refuses_ends_with_three_after_the_result_is_shown(home: Home, ragval: Ragval) -> None:
    (home.folder.parent / "out" / "evidence").mkdir(parents=True)
    ended = ragval("run", "-s", home.suite, "--only", "coverage", "--output", "out")
    assert ended.code == 3
    assert "PASS" in ended.out
    assert "not written by ragval" in ended.message


def test_a_pipe_gets_plain_lines_of_progress_on_stderr(home: Home, ragval: Ragval) -> None:
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    lines = ended.err.splitlines()
    assert any("Reading the sitemap" in line for line in lines)
    assert lines[-1].endswith("Writing the report")
    assert "\x1b" not in ended.err + ended.out
    assert not [line for line in ended.out.splitlines() if line != line.rstrip()]


def test_a_detector_that_crashes_says_its_type_and_how_to_see_more(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragval_pipeline.validation.coverage import compare

    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nothing to divide by")

    monkeypatch.setattr(compare, "measure_coverage", crash)
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    report = json.loads(home.reports()[0].read_bytes())
    assert ended.code == 1
    assert "ZeroDivisionError" in ended.message
    assert "--log-level DEBUG" in ended.message
    assert [finding["code"] for finding in report["findings"]] == ["check.crashed"]
    assert "Traceback" not in ended.err
    debugged = ragval("run", "-s", home.suite, "--only", "coverage", "--log-level", "DEBUG")
    assert "nothing to divide by" in debugged.err


def test_a_wrong_vector_name_is_an_error_of_the_suite_and_no_matter_where_no_vector_is_needed(
    tmp_path: Path, ragval: Ragval
) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), vector_name="dense")
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    suite = yaml.safe_load((tmp_path / "ragval.yaml").read_text(encoding="utf-8"))
    suite["qdrant"]["vector_name"] = "dens"
    (tmp_path / "ragval.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    ended = ragval("run")
    assert ended.code == 2, ended.err
    assert "ragval.yaml: qdrant.vector_name: docs has no vector dens; it has: dense. Did you mean" in ended.message
    assert not (tmp_path / "ragval_reports").exists()
    assert ragval("run", "--only", "chunks").code == 0  # which needs no vector


def test_a_missing_collection_is_reported_with_the_existing_ones_and_no_page_is_read(
    home: Home, ragval: Ragval
) -> None:
    home.edit(qdrant={"collection": "physical_ai_bok"})
    ended = ragval("run", "-s", home.suite)
    assert ended.code == 3
    assert (
        "has no collection physical_ai_bok; it has: physical_ai_book. Did you mean physical_ai_book?" in ended.message
    )
    assert "Reading the pages: " not in ended.err
    [file] = home.reports()
    assert not list(file.parent.glob("evidence/pages/*.parquet"))
