"""A copy of the demo that a test may change, and running its job on a real Dagster instance."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import yaml

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import asset_key, job_name
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

NAME = "physical_ai_book"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
#: The gates that a run of the group ``coverage`` can hold, so that tests take seconds.
COVERAGE_ALONE: Mapping[str, Any] = {
    "coverage": 1.0, "query_pass_rate": None, "metadata_completeness": None, "error_findings": None,
    "critical_queries": None,
}  # fmt: skip
#: Where nothing listens: port 9 is "discard", and refused at once on a machine that does not serve it.
NOBODY = "http://127.0.0.1:9"


@dataclass(frozen=True)
class World:
    """A demo of its own: site, index, queries and suite file below ``folder``."""

    folder: Path

    @classmethod
    def copied(cls, demo: DemoHome, folder: Path) -> World:
        shutil.copytree(demo.home, folder, ignore=shutil.ignore_patterns("reports"))
        return cls(folder)

    @property
    def reports(self) -> Path:
        return self.folder / "reports" / NAME

    def suite(self, changes: Mapping[str, Any] | None = None) -> Suite:
        """The suite of the file, with ``changes`` merged into it key by key."""
        file = self.folder / "ragval.yaml"
        written = _merged(yaml.safe_load(file.read_text(encoding="utf-8")), changes or {})
        file.write_text(yaml.safe_dump(written), encoding="utf-8")
        return load_suite(file)

    def delete_page(self, url: str) -> None:
        """Remove the chunks of a page from the index."""
        from qdrant_client import QdrantClient, models

        match = models.FieldCondition(key="source_url", match=models.MatchValue(value=url))
        with closing(QdrantClient(path=str(self.folder / "qdrant"))) as client:
            client.delete(NAME, models.FilterSelector(filter=models.Filter(must=[match])))


def a_page(world: World) -> str:
    """The address of the last page of the sitemap."""
    text = (world.folder / "site" / "sitemap.xml").read_text(encoding="utf-8")
    return sorted(re.findall(r"<loc>(.*?)</loc>", text))[-1]


def replace_with_garbage(client: QdrantClient, collection: str = NAME) -> None:
    """As many points under the same ids, with another text and vector."""
    from qdrant_client import models

    points, _ = client.scroll(collection, limit=1000, with_vectors=True)
    spoilt = {"vector": points[0].vector, "payload": {**(points[0].payload or {}), "chunk_text": "x"}}
    client.upsert(collection, [models.PointStruct(id=point.id, **spoilt) for point in points])


def copy_collection(world: World, target: QdrantClient) -> None:
    """Put the demo's points into a server."""
    from qdrant_client import QdrantClient, models

    source = QdrantClient(path=str(world.folder / "qdrant"))
    points, _ = source.scroll(NAME, limit=1000, with_vectors=True)
    source.close()
    space = models.VectorParams(size=256, distance=models.Distance.COSINE)
    target.create_collection(NAME, vectors_config=space)
    rows = [models.PointStruct(id=point.id, vector=point.vector, payload=point.payload) for point in points]
    target.upsert(NAME, rows, wait=True)


def run_job(
    suite: Suite,
    *,
    instance: dg.DagsterInstance | None = None,
    only: str | None = None,
    beside: Iterable[dg.AssetsDefinition] = (),
    **build: Any,
) -> dg.ExecuteInProcessResult:
    """Run the suite's job, or with ``beside`` a job of those assets as well; never raises for a failed step."""
    defs = build_validation_defs(suite, **build)
    name = job_name(suite.suite)
    if beside:
        selection = dg.AssetSelection.all()
        everything = dg.define_asset_job("everything", selection=selection, executor_def=dg.in_process_executor)
        defs = dg.Definitions.merge(defs, dg.Definitions(assets=list(beside), jobs=[everything]))
        name = "everything"
    return defs.resolve_job_def(name).execute_in_process(
        instance=instance,
        run_config=QUIET,
        raise_on_error=False,
        tags={ONLY_TAG: only} if only else None,
    )


def materialised(result: dg.ExecuteInProcessResult) -> set[str]:
    """Names of the assets that the run materialised."""
    return {event.asset_key.path[-1] for event in result.get_asset_materialization_events() if event.asset_key}


def checked(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, dg.AssetCheckEvaluation]:
    """What the run recorded for the checks of one asset, by name."""
    key = asset_key(NAME, asset)
    return {entry.check_name: entry for entry in result.get_asset_check_evaluations() if entry.asset_key == key}


def metadata_of(result: dg.ExecuteInProcessResult, asset: str) -> Mapping[str, dg.MetadataValue]:
    """Metadata of the materialisation of one asset."""
    [event] = [event for event in result.get_asset_materialization_events() if event.asset_key.path[-1] == asset]
    return event.materialization.metadata


def report_file(result: dg.ExecuteInProcessResult) -> Path:
    """The ``validation_report.json`` that the run wrote."""
    said = [check.metadata["report"] for check in result.get_asset_check_evaluations() if check.check_name == "verdict"]
    shown = said[0] if said else metadata_of(result, "validation_report")["report"]
    return Path(str(shown.value)).with_name("validation_report.json")


def left_report(world: World, result: dg.ExecuteInProcessResult) -> Path:
    """The report of a run that ended without materialising one."""
    [folder] = world.reports.glob(f"*-{result.run_id[:8]}")
    return folder / "validation_report.json"


def failed_steps(result: dg.ExecuteInProcessResult) -> set[str]:
    """Names of the steps that failed, without the suite's prefix."""
    return {event.step_key.removeprefix(f"{NAME}__") for event in result.all_events if event.is_step_failure}


def why(result: dg.ExecuteInProcessResult | dg.JobExecutionResult) -> str:
    """What the failed steps of a run failed with."""
    failures = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    return " ".join(data.error_display_string for data in failures)


def _merged(base: Any, changes: Any) -> Any:
    if not (isinstance(base, dict) and isinstance(changes, Mapping)):
        return changes
    return {**base, **{key: _merged(base.get(key), value) for key, value in changes.items()}}
