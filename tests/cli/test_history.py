from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from ragval_pipeline.findings.factory import make_finding
from tests.cli.conftest import Ended, Home
from tests.reporting import factory
from tests.reporting.factory import query
from tests.reporting.history.kept import NAMES, keep
from tests.reporting.history.test_compare import asked

pytestmark = pytest.mark.usefixtures("without_gx")

Ragval = Callable[..., Ended]


@pytest.fixture
def runs(home: Home) -> UPath:
    """Three kept runs: a good one, a worse one, one that ended in an error."""
    base = UPath(home.folder / "reports" / home.collection)
    keep(base, NAMES[0], factory.report(query_results=asked(20, 0)))
    worse = factory.report("fail", query_results=asked(8, 12), findings=[make_finding("vector.swapped", ["1"])])
    keep(base, NAMES[1], worse)
    keep(base, NAMES[2], factory.report("error", query_results=[]))
    return base


def test_history_lists_the_runs_and_their_courses(home: Home, runs: UPath, ragval: Ragval) -> None:
    ended = ragval("history", "-s", home.suite)
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()[1:4]] == list(reversed(NAMES))
    [rate] = [line for line in ended.out.splitlines() if line.startswith("  Test questions answered ")]
    assert rate.endswith("  query_pass_rate")
    assert ended.err == ""


def test_history_as_json_holds_every_value(home: Home, runs: UPath, ragval: Ragval) -> None:
    ragval("bless", NAMES[0], "-s", home.suite)
    content = ragval("history", "-s", home.suite, "--json").json
    assert content["baseline"] == NAMES[0]
    assert [(run["name"], run["verdict"], run["baseline"]) for run in content["runs"]] == [
        (NAMES[0], "pass", True),
        (NAMES[1], "fail", False),
        (NAMES[2], "error", False),
    ]
    assert content["runs"][0]["criteria"]["coverage"]["value"] == 1.0


def test_a_suite_without_runs_says_so(home: Home, ragval: Ragval) -> None:
    assert "no runs yet" in ragval("history", "-s", home.suite).out
    ended = ragval("compare", "last", "last", "-s", home.suite)
    assert ended.code == 2
    assert "ragval run" in ended.message


def test_compare_ends_with_one_on_a_regression_and_names_the_queries(home: Home, runs: UPath, ragval: Ragval) -> None:
    ended = ragval("compare", NAMES[0], "bbbb2222", "-s", home.suite)
    assert ended.code == 1
    assert "REGRESSION" in ended.out
    assert "q12" in ended.out
    assert "  Vectors swapped between texts  new, 1  vector.swapped\n" in ended.out
    content = ragval("compare", NAMES[0], NAMES[1], "-s", home.suite, "--json")
    assert content.code == 1
    assert len(content.json["queries"]["lost"]) == 12


def test_compare_takes_the_baseline_and_the_last_run_by_itself(home: Home, runs: UPath, ragval: Ragval) -> None:
    assert ragval("compare", "-s", home.suite).code == 2
    ragval("bless", "aaaa1111", "-s", home.suite)
    ended = ragval("compare", "-s", home.suite, "--json")
    assert (ended.json["before"]["name"], ended.json["after"]["name"]) == (NAMES[0], NAMES[2])
    assert ended.code == 4


def test_compare_says_that_a_run_is_compared_with_itself(home: Home, runs: UPath, ragval: Ragval) -> None:
    ragval("bless", "bbbb2222", "-s", home.suite)
    assert f"baseline and bbbb2222 are the same run, {NAMES[1]}" in (
        ragval("compare", "baseline", "bbbb2222", "-s", home.suite).err
    )
    assert "same run" not in ragval("compare", NAMES[0], NAMES[1], "-s", home.suite).err


def test_compare_names_what_only_one_run_measured_and_lists_the_rest(home: Home, runs: UPath, ragval: Ragval) -> None:
    found = [make_finding("coverage.missing_page", ["a"])]
    fewer = factory.report(groups=["coverage", "queries"], query_results=asked(20, 0), findings=found)
    keep(runs, NAMES[2], fewer)
    content = ragval("compare", NAMES[1], NAMES[2], "-s", home.suite, "--json").json
    assert [change["code"] for change in content["findings"]] == ["coverage.missing_page"]
    assert "vectors" in content["not_compared"]
    assert content["after"]["groups"] == ["coverage", "queries"]
    ended = ragval("compare", NAMES[1], NAMES[2], "-s", home.suite)
    assert "Pass (partial)" in ended.out
    assert "measured by one of the runs only: metadata, chunks" in ended.out
    assert "Pass (partial)" in ragval("history", "-s", home.suite).out


def test_compare_says_why_a_query_is_set_aside(home: Home, runs: UPath, ragval: Ragval) -> None:
    for name, threshold in zip(NAMES, (0.5, 0.7), strict=False):
        given = {"min_similarity": threshold}
        passed = threshold < 0.6
        asked_again = [query(f"q{at}", f"Q {at}?", 0.6, passed=passed, given=given) for at in range(8)]
        keep(runs, name, factory.report(query_results=asked_again))
    ended = ragval("compare", NAMES[0], NAMES[1], "-s", home.suite)
    assert ended.code == 4
    assert "0 asked by both runs, 0 lost, 0 won, 8 set aside" in ended.out
    assert "(q0): its threshold changed from 0.50 to 0.70" in ended.out
    content = ragval("compare", NAMES[0], NAMES[1], "-s", home.suite, "--json").json
    assert content["query_changes"][0]["set_aside"] == "its threshold changed from 0.50 to 0.70"


def test_bless_refuses_a_run_that_ended_in_an_error(home: Home, runs: UPath, ragval: Ragval) -> None:
    ended = ragval("bless", "last", "-s", home.suite)
    assert ended.code == 2
    assert "cannot be a baseline" in ended.message
    assert not (runs / "baseline.json").exists()


def test_bless_says_when_the_run_did_not_pass(home: Home, runs: UPath, ragval: Ragval) -> None:
    ended = ragval("bless", NAMES[1], "-s", home.suite)
    assert ended.code == 0
    assert "did not pass" in ended.message
    assert json.loads((runs / "baseline.json").read_bytes())["run"] == NAMES[1]


def test_report_renders_a_kept_run_again_and_leaves_what_it_measured(home: Home, runs: UPath, ragval: Ragval) -> None:
    before = (runs / NAMES[1] / "validation_report.json").read_bytes()
    ended = ragval("report", NAMES[1], "-s", home.suite)
    assert ended.code == 0
    assert "vector.swapped" in (runs / NAMES[1] / "report.html").read_text()
    assert (runs / NAMES[1] / "validation_report.json").read_bytes() == before
    assert (runs / NAMES[1] / "junit.xml").exists()


def test_report_can_go_elsewhere_with_all_that_the_run_left(
    home: Home, runs: UPath, ragval: Ragval, tmp_path: Path
) -> None:
    """As with ``ragval run --output``: a page whose CSV, findings and evidence are not there is half a report."""
    again, kept = tmp_path / "again", runs / NAMES[0]
    (kept / "profile_report.json").write_bytes(b"{}")
    (kept / "evidence").mkdir()
    (kept / "evidence" / "sitemap_urls.csv").write_bytes(b"url")
    assert ragval("report", NAMES[0], "-s", home.suite, "--output", again).code == 0
    for name in ("validation_report.json", "findings.parquet", "profile_report.json", "evidence/sitemap_urls.csv"):
        assert (again / name).read_bytes() == (kept / name).read_bytes()
    assert (again / "summary.md").exists()
    assert not (kept / "summary.md").exists()


def test_a_summary_that_is_rendered_again_still_says_what_changed(home: Home, runs: UPath, ragval: Ragval) -> None:
    assert ragval("report", NAMES[1], "-s", home.suite).code == 0
    assert f"Since {NAMES[0]}" in (runs / NAMES[1] / "summary.md").read_text()


def test_a_baseline_that_is_not_there_ends_a_run_before_anything_is_asked(
    home: Home, runs: UPath, ragval: Ragval
) -> None:
    home.edit(history={"baseline": "nothing"})
    ended = ragval("run", "-s", home.suite, "--only", "regression")
    assert ended.code == 2
    assert "history.baseline" in ended.message


def test_a_run_that_answers_worse_than_the_baseline_fails(home: Home, ragval: Ragval) -> None:
    home.edit(criteria={"no_regression": 1.0})
    first = ragval("run", "-s", home.suite, "--only", "regression", "--json").json
    assert criterion(first)["reason_code"] == "not_applicable"
    assert ragval("bless", "last", "-s", home.suite).code == 0
    delete_most(home)
    ended = ragval("run", "-s", home.suite, "--only", "regression", "--json")
    assert ended.code == 1
    assert criterion(ended.json)["value"] == 0
    found = {(finding["code"], finding["scope"]): finding for finding in ended.json["findings"]}
    drop = found["regression.significant_drop", "query_pass_rate"]
    assert drop["severity"] == "error"
    assert drop["details"]["p"] < 0.05
    assert ("regression.query_lost", "critical") in found
    assert "regression.corpus_turnover" in {code for code, _ in found}
    assert ragval("compare", "-s", home.suite).code == 1
    [_, folder] = [file.parent for file in home.reports()]
    assert (
        json.loads((folder / "evidence" / "regression.json").read_bytes())["metrics"]["query_pass_rate"]["losses"] > 5
    )


def test_a_threshold_that_was_changed_in_the_suite_is_no_regression(home: Home, ragval: Ragval) -> None:
    home.edit(retrieval={"judge": ["score"]})
    assert ragval("run", "-s", home.suite, "--only", "regression").code == 0
    ragval("bless", "last", "-s", home.suite)
    home.edit(retrieval={"min_similarity": 0.9})
    report = ragval("run", "-s", home.suite, "--only", "regression", "--json").json
    assert [finding["code"] for finding in report["findings"] if finding["code"].startswith("regression.")] == []
    assert "threshold changed from 0.38 to 0.90" in criterion(report)["reason"]
    by_score = [query for query in report["query_results"] if "score" in query["held_to"]["conditions"]]
    assert len(by_score) == len(report["query_results"])
    assert {query["held_to"]["min_similarity"] for query in by_score} == {0.38, 0.9}  # some state their own


def criterion(report: dict[str, Any]) -> dict[str, Any]:
    [found] = [entry for entry in report["criteria"] if entry["name"] == "no_regression"]
    return dict(found)


def delete_most(home: Home) -> None:
    """Leave two chunks in three out of the index."""
    from qdrant_client import QdrantClient

    with closing(QdrantClient(path=str(home.folder / "qdrant"))) as client:
        ids = sorted(str(point.id) for point in client.scroll(home.collection, limit=1000)[0])
        client.delete(home.collection, points_selector=[name for at, name in enumerate(ids) if at % 6])
