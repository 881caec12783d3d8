from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.reporting.change_view import criterion_change
from ragval_pipeline.reporting.comparison import comparison_document
from ragval_pipeline.reporting.history.compare import RunComparison, compare_runs, comparison_json
from ragval_pipeline.reporting.history.model import CriterionChange
from ragval_pipeline.reporting.html.comparison import comparison_page
from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.reporting.terminal.runs import render_comparison
from ragval_pipeline.sources.history import HistoryNotReadError
from ragval_pipeline.validation.query_report import QueryReport
from tests.reporting.factory import CRITERIA, criterion, query, report
from tests.reporting.history.kept import NAMES, keep
from tests.validation.regression.runs import row

if TYPE_CHECKING:
    from upath import UPath


AT = {"source_url": "https://docs.example/A"}


def asked(passed: int, failed: int) -> list[QueryReport]:
    good = [query(f"q{number}", f"Question {number}?", 0.6) for number in range(passed)]
    bad = [query(f"q{number}", f"Question {number}?", 0.1, passed=False) for number in range(passed, passed + failed)]
    return [*good, *bad]


@pytest.fixture
def comparison(base: UPath) -> RunComparison:
    rankings = {f"q{number}": ["right page", "other"] for number in range(10)}
    truth = {name: {"right page": 2} for name in rankings}
    ranked = [*CRITERIA, criterion("ndcg_at_5", 0.9)]
    before = keep(
        base, NAMES[0], report(query_results=asked(10, 0), criteria=ranked), rankings=rankings, judgements=truth,
        rows=[row("a", "1", "x") | AT, row("b", "2", "y")],
    )  # fmt: skip
    worse = {name: ["other", "right page"] for name in rankings}
    after = keep(
        base, NAMES[1], report("fail", query_results=asked(3, 7), criteria=ranked), rankings=worse, judgements=truth,
        rows=[row("a", "1", "x"), row("c", "3", "z")],
    )  # fmt: skip
    return compare_runs(before, after, tolerated_drop=0.02)


def test_a_regression_ends_with_one(comparison: RunComparison) -> None:
    assert comparison.exit_code == 1
    assert comparison.no_regression.value == 0


def test_everything_that_differs_is_in_the_json(comparison: RunComparison) -> None:
    content = json.loads(json_bytes(comparison_json(comparison)))
    assert (content["before"]["name"], content["after"]["verdict"]) == (NAMES[0], "fail")
    assert set(content["metrics"]) == {"query_pass_rate", "ndcg_at_5"}
    assert content["metrics"]["ndcg_at_5"]["losses"] == 10
    assert content["queries"]["lost"] == [f"q{number}" for number in range(3, 10)]
    assert content["query_changes"][0]["passed_before"] is True
    assert content["query_changes"][0]["best_similarity_delta"] == pytest.approx(-0.5)
    corpus = content["corpus"]
    assert (corpus["pages_added"], corpus["pages_removed"]) == (["c"], ["b"])
    assert [(chunk["before"], chunk["after"]) for chunk in corpus["chunks"]] == [("y", None), (None, "z")]


def test_a_run_that_ended_in_an_error_cannot_be_compared(base: UPath) -> None:
    before = keep(base, NAMES[0], report(query_results=asked(10, 0)))
    after = keep(base, NAMES[1], report("error", query_results=asked(10, 0)))
    assert compare_runs(before, after, tolerated_drop=0.02).exit_code == 4


def test_an_index_that_lost_pages_is_a_regression_though_its_queries_pass(base: UPath) -> None:
    lost = [criterion("coverage", 0.6, 1.0), criterion("metadata_completeness", 1.0, 1.0)]
    before = keep(base, NAMES[0], report(query_results=asked(10, 0)))
    after = keep(base, NAMES[1], report("fail", query_results=asked(10, 0), criteria=lost))
    found = compare_runs(before, after, tolerated_drop=0.02)
    assert found.exit_code == 1
    assert found.no_regression.reason.endswith("coverage fell from 100.0 % to 60.0 %")
    content = comparison_json(found)["index_criteria"]
    assert {name: change["significant"] for name, change in content.items()} == {
        "coverage": True, "metadata_completeness": False,
    }  # fmt: skip


def test_findings_are_compared_by_every_subject_and_not_by_the_first_hundred(base: UPath) -> None:
    runs = []
    for name, kept in zip(NAMES, (range(250), range(1, 251)), strict=False):
        findings = [make_finding("vector.zero", [f"{number:04d}" for number in kept])]
        runs.append(keep(base, name, report(query_results=asked(10, 0), findings=findings), findings=findings))
    [change] = comparison_json(compare_runs(*runs, tolerated_drop=0.02))["findings"]
    assert (change["new"], change["gone"], len(change["unchanged"])) == (["0250"], ["0000"], 249)


@pytest.mark.parametrize("content", [None, b"q0 Q0 right%20page 1 -1 rag"], ids=["missing", "cut"])
def test_a_run_whose_hits_were_not_copied_whole_is_not_compared_as_if_it_had_found_nothing(
    base: UPath, content: bytes | None
) -> None:
    rankings = {f"q{number}": ["right page"] for number in range(10)}
    runs = [keep(base, name, report(query_results=asked(10, 0)), rankings=rankings) for name in NAMES[:2]]
    file = runs[1].folder / "run.trec"
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(HistoryNotReadError, match=r"run\.trec"):
        compare_runs(*runs, tolerated_drop=0.02)


def test_a_report_of_another_shape_names_the_file_and_the_field(base: UPath) -> None:
    run = keep(base, NAMES[0], report())
    (run.folder / "validation_report.json").write_bytes(b'{"suite": "book"}')
    with pytest.raises(HistoryNotReadError, match=r"validation_report\.json.*Field required.*another version"):
        compare_runs(run, run, tolerated_drop=0.02)


def test_page_and_terminal_show_the_same_criteria_questions_and_corpus_in_one_order(comparison: RunComparison) -> None:
    better = CriterionChange("mrr", 0.8, 0.9, "met", "met", True)
    worse = CriterionChange("coverage", 1.0, 0.5, "met", "not_met", False)
    comparison = replace(comparison, changes=replace(comparison.changes, criteria=[better, worse]))
    document = comparison_document(comparison)
    page = comparison_page(comparison).decode()
    console = Console(record=True, width=200, file=StringIO())
    render_comparison(comparison, console)
    told = console.export_text()
    lost = [row for row in document.questions if row.kind == "lost"]
    names = [
        *(row.code for row in document.criteria),
        *(f"{row.text} ({row.query_id})" for row in lost),
        *(listing.words for listing in document.listings),
    ]
    assert len(lost) == 7
    assert [row.code for row in document.criteria] == ["coverage", "mrr"]
    places = [told.index(name) for name in names]
    assert places == sorted(places)
    on_page = [page.index(f">{row.code}<") for row in document.criteria]
    assert on_page == sorted(on_page)
    on_page = [page.index(row.text) for row in document.questions]
    assert on_page == sorted(on_page)
    assert f"{len(document.questions):,}</b>" in page


def test_a_change_that_nobody_can_see_is_none_and_a_criterion_without_a_gate_is_not_met_or_missed() -> None:
    def shown(*values: float, required: bool = False) -> tuple[str, str]:
        verdicts = ("not_met", "met") if values[0] != values[1] else ("met", "met")
        return criterion_change(CriterionChange("latency_p95_ms", *values, *verdicts, False, required))

    assert shown(0.5001, 0.5002) == ("plain", "")
    assert shown(5.0, 9.0) == ("bad", "")
    assert shown(5.0, 9.0, required=True) == ("bad", "now met")


def test_pages_of_the_corpus_are_named_by_their_stored_addresses(comparison: RunComparison) -> None:
    turned = replace(comparison.answers.turnover, pages_changed=["a", "b"])
    shown = replace(comparison, answers=replace(comparison.answers, turnover=turned))
    named = {listing.words: listing.names for listing in comparison_document(shown).listings}
    assert named["pages whose chunks changed"] == ["b", "https://docs.example/A"]
