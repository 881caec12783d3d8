"""What one whole validation of a good index leaves in Dagster."""

from __future__ import annotations

import json

import dagster as dg

from ragval_pipeline.orchestration.build import ASSETS, MEASURING
from ragval_pipeline.suite.load import criteria_of, gates_of
from tests.orchestration.world import World, checked, materialised, metadata_of, report_file


def test_a_good_index_gives_a_green_run_with_everything_materialised(clean_run: dg.ExecuteInProcessResult) -> None:
    assert clean_run.success
    assert materialised(clean_run) == set(ASSETS)


def test_every_gate_of_a_good_index_passes(clean_world: World, clean_run: dg.ExecuteInProcessResult) -> None:
    gates = checked(clean_run, "validation_report")
    for name, gate in gates_of(clean_world.suite()).items():
        if gate.required:
            assert gates[name].passed, gates[name].description
            assert gates[name].blocking
            assert gates[name].severity == dg.AssetCheckSeverity.ERROR


def test_every_criterion_with_an_asset_is_published_with_its_numbers(
    clean_world: World, clean_run: dg.ExecuteInProcessResult
) -> None:
    for criterion in criteria_of(clean_world.suite()):
        if criterion.asset in MEASURING:
            check = checked(clean_run, criterion.asset)[criterion.name]
            assert check.metadata["verdict"].value in {"met", "not_met", "not_measured"}
            if check.metadata["verdict"].value != "not_measured":
                assert isinstance(check.metadata["value"], dg.FloatMetadataValue | dg.IntMetadataValue)


def test_the_published_verdicts_are_those_of_the_report(clean_run: dg.ExecuteInProcessResult) -> None:
    report = json.loads(report_file(clean_run).read_text(encoding="utf-8"))
    verdicts = {criterion["name"]: criterion["verdict"] for criterion in report["criteria"]}
    for name, check in {n: c for asset in MEASURING for n, c in checked(clean_run, asset).items()}.items():
        if name in verdicts:
            assert check.metadata["verdict"].value == verdicts[name], name


def test_the_report_names_the_model_that_embedded_also_when_the_suite_does_not(
    clean_run: dg.ExecuteInProcessResult,
) -> None:
    report = json.loads(report_file(clean_run).read_text(encoding="utf-8"))
    assert report["environment"]["embedding_model"] == "wordllama/l2_supercat/256"


def test_no_number_of_a_whole_run_is_hidden_in_a_text(clean_run: dg.ExecuteInProcessResult) -> None:
    for asset in materialised(clean_run):
        for name, value in metadata_of(clean_run, asset).items():
            if isinstance(value, dg.TextMetadataValue):
                assert not str(value.value).replace(".", "", 1).isdigit(), f"{asset}: {name}"


def test_every_asset_of_a_run_plots_something(clean_run: dg.ExecuteInProcessResult) -> None:
    for asset in materialised(clean_run):
        kinds = {type(value) for value in metadata_of(clean_run, asset).values()}
        assert kinds & {dg.IntMetadataValue, dg.FloatMetadataValue}, asset


def test_the_reports_page_begins_with_the_verdict(clean_run: dg.ExecuteInProcessResult) -> None:
    shown = metadata_of(clean_run, "validation_report")
    assert list(shown)[:3] == ["verdict", "summary", "report"]
    assert shown["verdict"].value == "pass"
    assert "query_pass_rate" in shown["summary"].value
    assert {record.data["verdict"] for record in shown["gates"].records} == {"met"}


def test_quality_metrics_are_plotted(clean_run: dg.ExecuteInProcessResult) -> None:
    shown = metadata_of(clean_run, "quality_metrics")
    assert shown["total_chunks"].value == 91
    assert shown["token_distribution.max"].value > shown["token_distribution.min"].value
