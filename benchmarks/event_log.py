"""What a run leaves in Dagster's event log: ``python -m benchmarks.event_log``.

Beside a healthy and a broken index, a bare multi-asset with the same assets, checks and names is run, which writes no
metadata: that is the floor, which Dagster's own events take. Goals are in bytes over the floor. Ends with 1 when one is
missed.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.cpu import fresh_place
from ragval_pipeline.demo.workspace import build_demo

if TYPE_CHECKING:
    import dagster as dg

    from ragval_pipeline.suite.model import Suite

#: Bytes over the floor.
GREEN, RED = 48_000, 80_000
#: Points of the demo that lose a field.
BROKEN = 20


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with fresh_place() as (folder, _):
        os.environ["DAGSTER_HOME"] = str(folder / "home")
        (folder / "home").mkdir()
        (folder / "home" / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
        sizes = _sizes(folder)
    floor, events = sizes["bare"]
    print(f"floor:   {floor:7,} bytes, {events} events: assets and checks without metadata")
    reached = True
    for name, goal in (("healthy", GREEN), ("broken", RED)):
        size, events = sizes[name]
        reached = reached and size - floor <= goal
        print(f"{name}: {size:7,} bytes, {events} events, {size - floor:,} over the floor (goal {goal:,})")
    return 0 if reached else 1


def _sizes(folder: Path) -> dict[str, tuple[int, int]]:
    from ragval_pipeline.orchestration.run import run_suite  # noqa: PLC0415
    from ragval_pipeline.suite.load import load_suite  # noqa: PLC0415

    built = build_demo(folder / "demo")
    suite = load_suite(built.suite_file)
    sizes = {"bare": _logged(folder, _bare_run(suite)), "healthy": _logged(folder, run_suite(suite).report.run_id)}
    _break(built.home)
    sizes["broken"] = _logged(folder, run_suite(suite).report.run_id)
    return sizes


def _logged(folder: Path, run_id: str) -> tuple[int, int]:
    """Bytes and number of a run's events."""
    with closing(sqlite3.connect(folder / "home" / "history" / "runs" / f"{run_id}.db")) as database:
        size, count = database.execute("select sum(length(event)), count(*) from event_logs").fetchone()
    return size, count


def _bare_run(suite: Suite) -> str:
    """Run a multi-asset with the suite's assets and checks that does nothing."""
    import dagster as dg  # noqa: PLC0415

    from ragval_pipeline.orchestration.build import build_validation_defs  # noqa: PLC0415

    built = build_validation_defs(suite)
    [own] = [part for part in built.assets or () if isinstance(part, dg.AssetsDefinition)]
    specs, checks = [dg.AssetSpec(spec.key, deps=spec.deps) for spec in own.specs], list(own.check_specs)

    @dg.multi_asset(
        name=own.op.name,
        specs=specs,
        check_specs=[dg.AssetCheckSpec(check.name, asset=check.asset_key, blocking=check.blocking) for check in checks],
    )
    def bare() -> Any:
        for spec in _in_order(specs):
            passed = [
                dg.AssetCheckResult(asset_key=spec.key, check_name=check.name, passed=True)
                for check in checks
                if check.asset_key == spec.key
            ]
            yield dg.MaterializeResult(asset_key=spec.key, check_results=passed)

    job = dg.define_asset_job(f"{suite.suite}_validation", executor_def=dg.in_process_executor)
    with dg.DagsterInstance.get() as instance:
        definitions = dg.Definitions(assets=[bare], jobs=[job])
        result = definitions.resolve_job_def(job.name).execute_in_process(
            instance=instance, run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        )
    return result.run_id


def _in_order(specs: list[dg.AssetSpec]) -> list[dg.AssetSpec]:
    """The specs, each after what it reads."""
    left, keys, order = list(specs), {spec.key for spec in specs}, list[Any]()
    while left:
        made = {spec.key for spec in order}
        ready = [spec for spec in left if {dep.asset_key for dep in spec.deps} & keys <= made]
        order += ready
        left = [spec for spec in left if spec not in ready]
    return order


def _break(home: Path) -> None:
    """Take a page out of the index, and a field from some points."""
    from qdrant_client import QdrantClient, models  # noqa: PLC0415

    with closing(QdrantClient(path=str(home / "qdrant"))) as client:
        name = client.get_collections().collections[0].name
        points, _ = client.scroll(name, limit=1_000)
        page = (points[0].payload or {})["source_url"]
        others = [point for point in points if (point.payload or {})["source_url"] != page]
        match = models.FieldCondition(key="source_url", match=models.MatchValue(value=page))
        client.delete(name, models.FilterSelector(filter=models.Filter(must=[match])))
        client.delete_payload(name, ["module_name"], [point.id for point in others[:BROKEN]])


if __name__ == "__main__":
    sys.exit(main())
