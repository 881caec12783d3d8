"""An outage, then a retry from the failure: green without hands, and meanwhile the report of what could be measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.measuring.table import ASSETS
from tests.orchestration import a_validation
from tests.orchestration.world import NAME, QUIET, World, failed_steps, materialised, why

EMBEDDER = """
import pathlib
from ragval_pipeline.sources.embedders.static import StaticEmbedder

class Ours:
    free, model = True, "wordllama/l2_supercat/256"

    def embed(self, texts, input_type):
        if (pathlib.Path(__file__).parent / "outage").exists():
            raise ConnectionError("nobody answers")
        return StaticEmbedder().embed(texts, input_type=input_type).vectors
"""


@dataclass(frozen=True)
class Outage:
    """Something that fails and comes back, and the groups that are asked for meanwhile."""

    changes: dict[str, Any]
    ends: Callable[[], object]
    only: str


def moved_away(file: Path) -> Callable[[], object]:
    away = file.with_name(f"{file.name}.away")
    file.rename(away)
    return lambda: away.rename(file)


@contextmanager
def outage_of(system: str, world: World) -> Iterator[Outage]:
    if system == "a detector of ours":
        with pytest.MonkeyPatch.context() as defect:
            defect.setattr("ragval_pipeline.measuring.table.measures.compare_content", lambda _: 1 / 0)
            yield Outage({}, defect.undo, "coverage,metadata,integrity")
        return
    if system == "embedder":
        (world.folder / f"{world.folder.parent.name}_embedder.py").write_text(EMBEDDER, encoding="utf-8")
        (world.folder / "outage").touch()
        changes = {"embedding": {"provider": f"{world.folder.parent.name}_embedder:Ours", "model": None}}
        yield Outage(changes, (world.folder / "outage").unlink, "coverage,queries")
    else:
        yield Outage({}, moved_away(world.folder / "qdrant"), "coverage")


def run(instance: dg.DagsterInstance, outage: Outage, retried: str | None = None) -> dg.JobExecutionResult:
    again = dg.ReexecutionOptions.from_failure(retried, instance) if retried else None
    job, tags = a_validation.fresh(), {ONLY_TAG: outage.only}
    with dg.execute_job(job, instance, reexecution_options=again, run_config=QUIET, tags=tags) as result:
        return result


@pytest.mark.parametrize(
    ("system", "measured"),
    [("Qdrant", None), ("embedder", "coverage"), ("a detector of ours", "metadata_completeness")],
)
def test_a_retry_after_an_outage_is_green_and_the_report_in_between_holds_what_could_be_measured(
    world: World,
    kept: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    measured: str | None,
) -> None:
    monkeypatch.setenv(a_validation.VARIABLE, str(world.folder / "ragval.yaml"))
    with outage_of(system, world) as outage:
        required = {"error_findings": None} | {"coverage": {"threshold": 1.0}}
        if system == "Qdrant":
            required |= {"query_pass_rate": None, "metadata_completeness": None, "critical_queries": None}
        elif system == "embedder":
            required |= {"metadata_completeness": None}
        else:
            required |= {"query_pass_rate": None, "critical_queries": None}
        world.suite({**outage.changes, "retry": {"max": 0}, "criteria": required})
        first = run(kept, outage)
        assert failed_steps(first) == {"validation"}, why(first)
        assert not materialised(first) & {"validation_report", "published"}
        [folder] = world.reports.glob(f"*-{first.run_id[:8]}")
        report = json.loads((folder / "validation_report.json").read_text("utf-8"))
        crashed = "check.crashed" in {finding["code"] for finding in report["findings"]}
        assert crashed == (system == "a detector of ours")
        assert report["verdict"] == ("pass" if crashed else "error")
        [seen] = kept.fetch_observations(dg.AssetKey([NAME, "validation_report"]), limit=1).records
        assert seen.asset_observation.metadata["report"].value == f"{folder}/report.html"
        verdicts = {entry["name"]: entry["verdict"] for entry in report["criteria"]}
        assert {name for name, verdict in verdicts.items() if verdict == "met"} >= ({measured} if measured else set())
        outage.ends()
        second = run(kept, outage, retried=first.run_id)
    assert second.success, why(second)
    assert materialised(second) == {*ASSETS, "published"}
    [folder] = world.reports.glob(f"*-{second.run_id[:8]}")
    report = json.loads((folder / "validation_report.json").read_text("utf-8"))
    assert report["verdict"] == "pass"
    assert {entry["reason_code"] for entry in report["criteria"]} <= {None, "not_applicable", "not_selected", "no_data"}
