"""``run --metrics``: read back by Prometheus' own parser, and compared with the report."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ragval_pipeline.reporting.files.metrics import metrics_text
from ragval_pipeline.validation.report import Cost, ValidationReport
from tests.cli.conftest import Ended, Home
from tests.reporting.factory import make_finding, report

Ragval = Callable[..., Ended]
Samples = dict[tuple[str, ...], float]
pytestmark = pytest.mark.usefixtures("without_gx")


def parsed(text: str) -> Samples:
    """Every sample by its name and the values of its labels besides the suite's."""
    families = list(text_string_to_metric_families(text))
    assert all(family.documentation and family.type == "gauge" for family in families)
    found: Samples = {}
    for sample in (sample for family in families for sample in family.samples):
        assert sample.labels["suite"] == "physical_ai_book"
        key = (sample.name, *(value for name, value in sample.labels.items() if name != "suite"))
        assert key not in found
        found[key] = sample.value
    return found


def measured(home: Home, ragval: Ragval, *options: str) -> tuple[ValidationReport, Samples]:
    file = home.folder / "ragval.prom"
    ended = ragval("run", "-s", home.suite, "--json", "--metrics", str(file), *options)
    return ValidationReport.model_validate(ended.json), parsed(file.read_text(encoding="utf-8"))


def test_what_a_part_of_the_measurements_leaves_out_has_no_line(home: Home, ragval: Ragval) -> None:
    found, samples = measured(home, ragval, "--only", "coverage")
    assert samples["ragval_pages", "indexed"] == len(found.coverage_report.indexed_urls or ()) > 0
    assert samples["ragval_pages", "missing"] == 0
    values = {key[1] for key in samples if key[0] == "ragval_criterion_value"}
    assert values == {result.name for result in found.criteria if result.value is not None}
    assert "query_pass_rate" not in values
    assert "query_pass_rate" not in {key[1] for key in samples if key[0] == "ragval_criterion_met"}
    assert not [key for key in samples if key[0] in {"ragval_queries", "ragval_last_pass_timestamp_seconds"}]
    assert {entry.name for entry in home.folder.iterdir() if "ragval.prom" in entry.name} == {"ragval.prom"}


@pytest.mark.slow
def test_a_whole_run_has_every_figure_of_its_report_and_is_the_last_pass(home: Home, ragval: Ragval) -> None:
    found, samples = measured(home, ragval)
    assert found.verdict == "pass"
    assert samples["ragval_verdict", "pass"] == 1
    assert samples["ragval_verdict", "fail"] == 0
    assert samples["ragval_criterion_value", "coverage", "true"] == 1.0
    assert samples["ragval_criterion_met", "coverage", "true"] == 1
    assert samples["ragval_queries", "passed"] == found.passed_queries
    when = datetime.fromisoformat(found.timestamp).timestamp()
    assert samples["ragval_last_pass_timestamp_seconds",] == samples["ragval_run_timestamp_seconds",] == when
    home.edit(criteria={"avg_similarity": 0.99})
    later, samples = measured(home, ragval)
    assert later.verdict == "fail"
    assert samples["ragval_criterion_met", "avg_similarity", "true"] == 0
    assert samples["ragval_last_pass_timestamp_seconds",] == when < samples["ragval_run_timestamp_seconds",]


def test_findings_are_counted_by_code_and_costs_that_are_not_known_have_no_line() -> None:
    found = [make_finding("coverage.missing_page", ["a", "b", "c"])]
    paid = Cost(embedding_calls=7, usd=0.25)
    told = report(findings=found).model_copy(update={"suite": "physical_ai_book", "cost": paid})
    samples = parsed(metrics_text(told, last_pass=None).decode())
    assert samples["ragval_finding_subjects", "coverage.missing_page", "error"] == 3
    assert samples["ragval_findings", "error"] == 1
    assert samples["ragval_findings", "warning"] == 0
    assert samples["ragval_embedding_calls",] == 7
    assert samples["ragval_embedding_cost_usd",] == 0.25
    assert ("ragval_embedding_tokens",) not in samples


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(home: Home, ragval: Ragval) -> None:
    ended = ragval("run", "-s", home.suite, "--metrics", home.folder)
    assert ended.code == 2
    assert "is a folder" in ended.message
    assert home.reports() == []


@pytest.mark.parametrize(
    "options",
    [
        ("--metrics", "ragval.yaml"),
        ("--dataset", "ragas", "queries.yaml"),
        ("--dataset", "ragas", "both.txt", "--metrics", "both.txt"),
    ],
)
def test_no_file_that_is_read_or_written_already_is_replaced(
    home: Home, ragval: Ragval, options: tuple[str, ...]
) -> None:
    before = {file: file.read_bytes() for file in home.folder.glob("*.yaml")}
    assert before
    at = [str(home.folder / each) if "." in each else each for each in options]
    ended = ragval("run", "-s", home.suite, *at)
    assert ended.code == 2
    assert "Name another file" in ended.message
    assert {file: file.read_bytes() for file in home.folder.glob("*.yaml")} == before
    assert home.reports() == []
