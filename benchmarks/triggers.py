"""How fast and how surely each trigger follows ingestions, against a live ``dagster dev`` with two code locations.

Suites with one trigger each, and one with two, follow the same ingestions: ten one after the other, then ten at once;
``--only`` measures some of them, each as if it were alone on the machine when it is the only one named.
What validates is a stand-in of one asset, because the triggers are what is measured; the whole way with a real one
is ``tests/orchestration/test_daemon.py``. Prints, per trigger, validations, ingestions named and the seconds from the
end of an ingestion until a run was asked for and until it had started. The schedule looks every minute, whatever was
ingested. Run with ``python -m benchmarks.triggers``.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from benchmarks.trigger_locations import COLLECTION, INGEST_JOB, MEASURED, TRIGGERS, URL
from ragval_pipeline.orchestration.names import SUITE_TAG
from tests.orchestration.live import REPOSITORY, Live, dagster_dev
from tests.support.qdrant_server import QdrantStandIn

#: They cannot know which runs have filled the collection.
UNNAMED = {"condition", "collection", "schedule"}
#: It validates at fixed times, also when nothing was ingested: its runs come without end and are not waited for.
AT_FIXED_TIMES = {"schedule"}
DONE = {"SUCCESS", "FAILURE", "CANCELED"}
WORKSPACE = """load_from:
  - python_module: {module_name: benchmarks.trigger_locations, attribute: validating, location_name: validating}
  - python_module: {module_name: benchmarks.trigger_locations, attribute: ingesting, location_name: ingesting}
"""
LOOKED = """query ($selector: RepositorySelector!) { repositoryOrError(repositorySelector: $selector) {
    ... on Repository { sensors { name sensorState { ticks(limit: 1, statuses: [SKIPPED, SUCCESS]) { tickId }
    typeSpecificData { ... on SensorData { lastCursor } } } } } } }"""
SETTINGS = """  runs:
    max_concurrent_runs: 4
"""


@dataclass
class Followed:
    """What one suite made of some ingestions."""

    name: str
    ended: dict[str, float]
    validations: list[dict[str, Any]]

    def last_state_is_validated(self) -> bool:
        """Whether a validation started after the last ingestion had ended."""
        return any(run["startTime"] >= max(self.ended.values()) for run in self.validations if run["startTime"])

    def _named(self) -> str:
        named = {name for run in self.validations for name in run["tags"].get("ragval/ingestions", "").split(",")}
        return "-" if self.name in UNNAMED else str(len(named & self.ended.keys()))

    def line(self) -> str:
        """One row of the table."""
        asked, started = [], []
        for end in self.ended.values():
            after = [run for run in self.validations if run["startTime"] and run["startTime"] >= end]
            if after:
                first = min(after, key=lambda run: float(run["startTime"]))
                asked.append(first["creationTime"] - end)
                started.append(first["startTime"] - end)
        return (
            f"{self.name:14} {len(self.ended):10} {len(self.validations):11} {self._named():>6} "
            f"{'yes' if self.last_state_is_validated() else 'NO':>10} {_shown(asked):>18} {_shown(started):>18}"
        )


def _shown(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.1f} / {max(seconds):.1f}" if seconds else "-"


class Scene:
    """A live Dagster and a collection that both see the same ingestions."""

    def __init__(self, live: Live, server: QdrantStandIn, names: Sequence[str]) -> None:
        self.live, self.names, self.points = live, names, 0
        self.filled: dict[str, float] = {}
        self.client = QdrantClient(url=server.url, check_compatibility=False)
        space = models.VectorParams(size=2, distance=models.Distance.COSINE)
        self.client.create_collection(COLLECTION, vectors_config=space)
        self.fill()

    def all_looked(self) -> bool:
        """Whether every sensor has had its first look: what came before it starts nothing.

        A look at a server that did not answer in time remembers nothing and does not count.
        """
        repository = {"repositoryName": REPOSITORY, "repositoryLocationName": "validating"}
        states = {
            sensor["name"]: sensor["sensorState"]
            for sensor in self.live.ask(LOOKED, selector=repository)["repositoryOrError"]["sensors"]
        }
        polling = states.pop("collection_collection_changed", None)
        remembered = polling is None or bool((polling["typeSpecificData"] or {}).get("lastCursor"))
        return remembered and all(state["ticks"] for state in states.values())

    def fill(self) -> None:
        """One point more."""
        self.points += 1
        self.client.upsert(COLLECTION, [models.PointStruct(id=self.points, vector=[1.0, 0.0])])

    def ingest(self) -> str:
        """What fills the collection: a run of the named job, and a point."""
        self.fill()
        filled = time.time()
        run_id = self.live.launch("ingesting", INGEST_JOB)
        self.filled[run_id] = filled
        return run_id

    def ended(self, ids: list[str]) -> dict[str, float]:
        """When the ingestions ended, once all have."""

        def ends() -> dict[str, float]:
            runs = {run["runId"]: run for run in self.live.runs() if run["runId"] in ids}
            done = len(runs) == len(ids) and all(run["status"] in DONE for run in runs.values())
            return {run_id: run["endTime"] for run_id, run in runs.items()} if done else {}

        return self.live.until(ends, within_s=600)

    def settled(self, since: float, ended: dict[str, float]) -> dict[str, Followed]:
        """What every suite made of them, when each has validated the last state and nothing is under way."""
        followed: dict[str, Followed] = {}

        def all_done() -> bool:
            runs = [run for run in self.live.runs() if run["creationTime"] >= since]
            for name in self.names:
                own = [run for run in runs if run["tags"].get(SUITE_TAG) == name]
                # A collection shows an ingestion when its points are there, not when a run ends.
                ends = {run_id: self.filled[run_id] for run_id in ended} if name == "collection" else ended
                followed[name] = Followed(name, ends, own)
            waited_for = [run for run in runs if run["tags"].get(SUITE_TAG) not in AT_FIXED_TIMES]
            quiet = all(run["status"] in DONE for run in waited_for)
            return quiet and all(entry.last_state_is_validated() for entry in followed.values())

        self.live.until(all_done, within_s=300)
        return followed


def one_after_the_other(scene: Scene, count: int) -> list[Followed]:
    """Ingest again when every suite has validated."""
    total = {name: Followed(name, {}, []) for name in scene.names}
    for number in range(count):
        since = time.time()
        ended = scene.ended([scene.ingest()])
        for name, entry in scene.settled(since, ended).items():
            total[name].ended |= entry.ended
            total[name].validations += entry.validations
        print(f"  {number + 1} of {count}: {time.time() - since:.0f} s", flush=True)
    return list(total.values())


def at_once(scene: Scene, count: int) -> list[Followed]:
    """Ingest without waiting."""
    since = time.time()
    ended = scene.ended([scene.ingest() for _ in range(count)])
    return list(scene.settled(since, ended).values())


@contextmanager
def staged(folder: Path, names: Sequence[str] = tuple(TRIGGERS)) -> Iterator[Scene]:
    """A live Dagster below ``folder`` with the triggers of ``names``, whose sensors have all had their first look."""
    with QdrantStandIn() as server:
        workspace = folder / "workspace.yaml"
        workspace.write_text(WORKSPACE, encoding="utf-8")
        with dagster_dev(folder / "live", workspace, SETTINGS, {URL: server.url, MEASURED: ",".join(names)}) as live:
            scene = Scene(live, server, names)
            live.until(scene.all_looked)
            yield scene


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10, help="ingestions, one after the other and at once")
    parser.add_argument("--only", nargs="+", choices=list(TRIGGERS), default=list(TRIGGERS), help="triggers to measure")
    given = parser.parse_args()
    count: int = given.count
    head = (
        f"{'trigger':14} {'ingestions':>10} {'validations':>11} {'named':>6} {'last state':>10} "
        f"{'asked median/max s':>18} {'started':>18}"
    )
    with tempfile.TemporaryDirectory() as folder, staged(Path(folder), given.only) as scene:
        for title, measured in (("one after the other", one_after_the_other), ("at once", at_once)):
            rows = measured(scene, count)
            print(f"\n{count} ingestions, {title}\n{head}")
            print("\n".join(row.line() for row in rows), flush=True)


if __name__ == "__main__":
    main()
