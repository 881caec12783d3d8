from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ragval_pipeline.cli import main
from ragval_pipeline.findings.catalogue import CATALOGUE
from tests.cli.conftest import Ended

Ragval = Callable[..., Ended]


@pytest.fixture(scope="module")
def kept(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of the demo."""
    home = shutil.copytree(built, tmp_path_factory.mktemp("sql") / "demo")
    assert main(["run", "-s", str(home / "ragval.yaml")]) == 0
    return next(home.glob("reports/*/*/validation_report.json")).parent


def criterion(kept: Path, name: str) -> dict[str, object]:
    report = json.loads((kept / "validation_report.json").read_bytes())
    return next(entry for entry in report["criteria"] if entry["name"] == name)


@pytest.mark.parametrize(
    ("name", "numerator", "denominator"),
    [
        (
            "coverage",
            "select count(*) from site where in_scope and page_key in (select page_key from points)",
            "select count(*) from site where in_scope",
        ),
        (
            "content_integrity",
            "select sum(found) from chunks where compared",
            "select sum(letters) from chunks where compared",
        ),
        ("query_pass_rate", "select count(*) from queries where passed", "select count(*) from queries"),
    ],
)
def test_the_counts_of_a_report_can_be_checked_by_a_query(
    kept: Path, ragval: Ragval, name: str, numerator: str, denominator: str
) -> None:
    told = criterion(kept, name)
    counts = [
        ragval("sql", kept, f"select ({query}) as n", "--json").json[0]["n"] for query in (numerator, denominator)
    ]
    assert [float(count) for count in counts] == [told["numerator"], told["denominator"]]


def test_the_criteria_and_hits_of_the_report_are_rows(kept: Path, ragval: Ragval) -> None:
    [row] = ragval("sql", kept, "select value from criteria where name = 'coverage'", "--json").json
    assert row["value"] == criterion(kept, "coverage")["value"]
    [first] = ragval("sql", kept, "select max(score) as best from hits where rank = 1", "--json").json
    assert 0 < first["best"] <= 1


def test_without_a_query_the_views_are_listed_with_their_columns(kept: Path, ragval: Ragval) -> None:
    ended = ragval("sql", kept)
    assert ended.code == 0
    assert "chunks  A point that has text" in ended.out
    assert "page_key" in ended.out


def test_rows_are_a_table_or_csv_and_cut_with_a_word(kept: Path, ragval: Ragval) -> None:
    query = "select page_url, count(*) as n from points group by all order by all"
    table = ragval("sql", kept, query, "--limit", "2")
    assert "page_url" in table.out
    assert table.message == "ragval: The first 2 rows; --limit shows more."
    lines = ragval("sql", kept, query, "--csv").out.splitlines()
    assert lines[0] == "page_url,n"
    assert len(lines) == 1 + int(criterion(kept, "coverage")["numerator"])


def test_a_wrong_query_ends_with_2_and_its_place(kept: Path, ragval: Ragval) -> None:
    ended = ragval("sql", kept, "select nothing from chunks")
    assert ended.code == 2
    assert ended.message.startswith('ragval: query: line 1, column 8: Referenced column "nothing"')
    assert ragval("sql", kept, "select 1", "--json", "--csv").code == 2


def test_the_query_of_a_rule_finds_the_subjects_of_its_finding(kept: Path, ragval: Ragval) -> None:
    for code in (code for code, rule in CATALOGUE.items() if rule.sql):
        named = ragval("sql", kept, f"select subject from findings where code = '{code}' order by all", "--json").json
        found = ragval("sql", kept, code, "--json").json
        assert sorted({row["name"] for row in found}) == [row["subject"] for row in named if row["subject"]]


def test_a_code_that_is_found_by_a_function_is_refused(kept: Path, ragval: Ragval) -> None:
    ended = ragval("sql", kept, "chunk.near_duplicate")
    assert ended.code == 2
    assert "ragval explain chunk.near_duplicate" in ended.err


def test_a_misspelt_code_is_no_mistake_of_syntax(kept: Path, ragval: Ragval) -> None:
    ended = ragval("sql", kept, "chunk.too_smal")
    assert ended.code == 2
    assert "chunk.too_smal is not a finding of the catalogue. Did you mean chunk.too_small?" in ended.err
    assert "Its query is in the file of the rule." in ragval("sql", kept, "custom.short_pages").err


def test_without_a_suite_file_the_demo_is_named_if_it_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ragval: Ragval
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "ragval init" in ragval("sql", "last", "select 1").message
    suite = tmp_path / ".ragval" / "demo" / "ragval.yaml"
    suite.parent.mkdir(parents=True)
    suite.write_text("suite: demo\n")
    assert "-s .ragval/demo/ragval.yaml" in ragval("sql", "last", "select 1").message
