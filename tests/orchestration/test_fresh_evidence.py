"""No way in for old evidence: a gate opens on what its own run measured, and on nothing else.

Every test starts from a good validation, spoils the index, and tries to get a guarded asset to run all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.orchestration.assets.table import ASSETS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.evidence import refusals
from ragval_pipeline.orchestration.names import ONLY_TAG, asset_key, job_name
from ragval_pipeline.orchestration.values import Measured, PayloadSnapshot, Stamp, Value
from tests.orchestration import a_validation
from tests.orchestration.world import (
    COVERAGE_ALONE,
    NAME,
    QUIET,
    World,
    a_page,
    checked,
    materialised,
    metadata_of,
    replace_with_garbage,
    report_file,
    run_job,
)

COVERAGE = {ONLY_TAG: "coverage"}
REPORT = "validation_report"


@pytest.fixture
def spoilt(world: World, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> World:
    """An index that was validated and found good, and has lost a page since."""
    suite = world.suite({"criteria": COVERAGE_ALONE})
    monkeypatch.setenv(a_validation.VARIABLE, str(world.folder / "ragval.yaml"))
    assert run_job(suite, instance=instance, only="coverage").success
    world.delete_page(a_page(world))
    return world


def guarded(world: World, instance: dg.DagsterInstance, names: Iterable[str], **how: Any) -> Any:
    """Materialise some assets and one that the report guards, as a person does with a selection in the UI."""

    @dg.asset(deps=[asset_key(NAME, REPORT)])
    def published() -> None: ...

    defs = dg.Definitions.merge(build_validation_defs(world.suite()), dg.Definitions(assets=[published]))
    return defs.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance,
        asset_selection=[*(asset_key(NAME, name) for name in names), published.key],
        run_config=QUIET,
        raise_on_error=False,
        tags=COVERAGE,
        **how,
    )


def assert_closed(result: dg.ExecuteInProcessResult, *told: str) -> None:
    """The guarded asset did not run, the report says not measured and what to do about it."""
    assert not result.success
    assert "published" not in materialised(result)
    assert metadata_of(result, REPORT)["verdict"].value.startswith("Not measured")
    [coverage] = [entry for entry in json.loads(report_file(result).read_text("utf-8"))["criteria"]
                  if entry["name"] == "coverage"]  # fmt: skip
    assert (coverage["verdict"], coverage["value"]) == ("not_measured", None)
    for text in ("Materialise it again", f"{NAME}_validation", *told):
        assert text in coverage["reason"]
    assert not any(
        gate.passed for gate in checked(result, REPORT).values() if gate.severity == dg.AssetCheckSeverity.ERROR
    )


@pytest.mark.parametrize("left_out", [["coverage_report"], ["payload_snapshot"]])
def test_a_subset_does_not_mix_new_and_old(spoilt: World, instance: dg.DagsterInstance, left_out: list[str]) -> None:
    """Also when the measurement is new and what it measured is old."""
    assert_closed(guarded(spoilt, instance, set(ASSETS) - set(left_out)), "another run")


def test_nothing_that_a_cancelled_run_left_counts(spoilt: World, instance: dg.DagsterInstance) -> None:
    cancelled = guarded(spoilt, instance, set(ASSETS) - {REPORT})
    [run] = instance.get_runs(dg.RunsFilter(run_ids=[cancelled.run_id]))
    instance.report_run_canceled(run)
    assert_closed(guarded(spoilt, instance, [REPORT]), cancelled.run_id[:8])


def reexecuted(instance: dg.DagsterInstance, run_id: str, *steps: str) -> dg.JobExecutionResult:
    """Chosen steps of a run again, as the UI's button does."""
    job = a_validation.fresh()
    options = dg.ReexecutionOptions(run_id, step_selection=[f"{NAME}__{step}" for step in steps] + ["published"])
    with dg.execute_job(job, instance, reexecution_options=options, run_config=QUIET, tags=COVERAGE) as result:
        return result


def validated(instance: dg.DagsterInstance) -> dg.JobExecutionResult:
    job = a_validation.fresh()
    with dg.execute_job(job, instance, run_config=QUIET, tags=COVERAGE) as result:
        return result


def test_a_run_that_is_continued_counts_only_while_the_index_is_what_it_was(
    world: World, kept: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qdrant_client import QdrantClient

    required = list(world.suite({"criteria": COVERAGE_ALONE}).payload.required)
    monkeypatch.setenv(a_validation.VARIABLE, str(world.folder / "ragval.yaml"))
    first = validated(kept)
    assert first.success
    assert "published" in materialised(reexecuted(kept, first.run_id, REPORT))
    world.suite({"payload": {"required": ["source_url"]}})
    assert_closed(reexecuted(kept, first.run_id, REPORT), "the suite has changed since")
    world.suite({"payload": {"required": required}})
    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as client:
        replace_with_garbage(client)
    assert_closed(reexecuted(kept, first.run_id, REPORT), "the collection has changed since")
    # The snapshot is new and the measurement is not.
    assert_closed(reexecuted(kept, first.run_id, "payload_snapshot", REPORT), "collection")


def test_a_cancelled_run_takes_its_values_back_also_when_nobody_could_tell_its_process(
    spoilt: World, instance: dg.DagsterInstance
) -> None:
    before = {file.name: file.read_bytes() for file in (spoilt.reports / ".latest").iterdir()}
    cancelled = guarded(spoilt, instance, ["sitemap_urls", "payload_snapshot", "coverage_report"])
    [run] = instance.get_runs(dg.RunsFilter(run_ids=[cancelled.run_id]))
    instance.report_run_canceled(run)
    guarded(spoilt, instance, ["sitemap_urls"])
    after = {file.name: file.read_bytes() for file in (spoilt.reports / ".latest").iterdir()}
    assert {name for name in before if before[name] != after[name]} == {"sitemap_urls.json"}


def value(kind: type[Value], *, run: str = "now", runs: tuple[str, ...] = ("now",), **states: str) -> Value:
    stamp = Stamp(run_id=run, made="2026-01-01T00:00:00.000Z", runs=runs, states=states)
    return kind.model_construct(stamp=stamp)


@pytest.mark.parametrize(("kept", "reason"), [
    (value(Measured, site="a", collection="c"), None),
    (value(Measured, run="root", runs=("root",), site="a", collection="c"), None),
    (value(Measured, run="other", runs=("other",), collection="c"), "is of another run (other;"),
    (value(Measured, runs=("now", "other"), collection="c"), "rests on what is of another run (other;"),
    (value(Measured, collection="old"), "measured on a different state of the collection"),
    (value(Measured, suite="old"), "the suite has changed since"),
    # Measured while the site could not be read, which a retry then did: it says nothing of the site.
    (value(Measured, collection="c"), None),
])  # fmt: skip
def test_only_what_this_run_or_its_root_measured_on_the_same_state_counts(kept: Value, reason: str | None) -> None:
    values = {"payload_snapshot": value(PayloadSnapshot, site="a", collection="c"), "coverage_report": kept}
    found = refusals(values, runs=["now", "root"], now={"suite": "s"}, job=job_name(NAME))
    assert found.keys() == ({"coverage_report"} if reason else set())
    assert reason is None or reason in found["coverage_report"]
    assert reason is None or found["coverage_report"].endswith(
        ". Materialise it again together with its upstream assets, or start physical_ai_book_validation."
    )
