"""What one whole validation of a good index leaves in Dagster."""

from __future__ import annotations

import json

import dagster as dg

from ragval_pipeline.measuring.table import ASSETS, MEASURING, asset_of
from ragval_pipeline.orchestration.checks import gated_criteria
from ragval_pipeline.suite.gates import gates_of
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


def test_every_criterion_with_a_gate_is_published_with_its_numbers(
    clean_world: World, clean_run: dg.ExecuteInProcessResult
) -> None:
    for criterion, _ in gated_criteria(clean_world.suite()):
        asset = asset_of(criterion.asset)
        if asset in MEASURING:
            check = checked(clean_run, asset)[criterion.name]
            if check.metadata["verdict"].value != "not_measured":
                assert isinstance(check.metadata["value"], dg.FloatMetadataValue | dg.IntMetadataValue)
                plotted = [name for name, entry in check.metadata.items() if isinstance(entry.value, float | int)]
                assert sorted(set(plotted) - {"required"})[0] == "value", "the UI plots in this order"


def test_what_is_right_is_not_written_to_the_event_log(clean_run: dg.ExecuteInProcessResult) -> None:
    """Dagster keeps it for ever, and that of assets twice."""
    for asset in materialised(clean_run):
        shown = metadata_of(clean_run, asset)
        assert not any(isinstance(value, dg.TableMetadataValue) for value in shown.values()), asset
        assert sum(len(dg.serialize_value(value)) for value in shown.values()) < 2_800, asset
    for check in clean_run.get_asset_check_evaluations():
        assert sum(len(dg.serialize_value(value)) for value in check.metadata.values()) < 500, check.check_name


def test_great_expectations_have_the_time_of_the_other_measurements_to_load(
    clean_run: dg.ExecuteInProcessResult,
) -> None:
    keys = [event.asset_key for event in clean_run.all_events if event.is_step_materialization and event.asset_key]
    done = [key.path[-1] for key in keys]
    last = done.index("metadata_expectations")
    assert set(done[last + 1 :]) == {"quality_metrics", "regression", "validation_report"}


def test_a_healthy_index_is_all_green(clean_run: dg.ExecuteInProcessResult) -> None:
    """What does not apply to it, such as the recall of an exact search, is no failed warning."""
    checks = clean_run.get_asset_check_evaluations()
    assert [check.check_name for check in checks if not check.passed] == []
    recall = checked(clean_run, "index_health")["ann_recall"]
    assert recall.metadata["verdict"].value == "not_measured"
    assert "searches exactly" in recall.description


def test_the_verdict_has_the_pass_rate(clean_run: dg.ExecuteInProcessResult) -> None:
    shown = checked(clean_run, "validation_report")["verdict"].metadata
    assert shown["pass_rate"].value == 100
    assert "offenders" not in shown


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
    assert shown["verdict"].value.startswith("Pass: This index meets")
    assert "query_pass_rate" in shown["summary"].value


def test_quality_metrics_are_told(clean_run: dg.ExecuteInProcessResult) -> None:
    told = metadata_of(clean_run, "quality_metrics")["details"].value
    assert told.startswith("total chunks 91, ")
    assert "token distribution (min " in told
