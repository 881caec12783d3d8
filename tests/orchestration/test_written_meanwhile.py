"""A collection that an ingestion writes to during the whole run: what it wrote meanwhile is set aside, and no more."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.validation.report import ValidationReport
from tests.orchestration.world import NAME, World, copy_collection
from tests.support.qdrant_server import QdrantStandIn, qdrant_stand_in

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_gx")]
PER_SECOND = 5


@dataclass
class Ingestion:
    """A client that overwrites a point every fifth of a second, and never the same one twice.

    Attributes:
        written: Id of each point, with the number of requests that the server had got before and after the write.
    """

    server: QdrantStandIn
    points: list[models.PointStruct]
    written: list[tuple[str, int, int]] = field(default_factory=list)

    @contextmanager
    def working(self) -> Iterator[None]:
        over = threading.Event()
        thread = threading.Thread(target=self._work, args=(over,))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _work(self, over: threading.Event) -> None:
        with closing(QdrantClient(url=self.server.url, check_compatibility=False)) as client:
            for point in self.points:
                before = len(self.server.asked)
                client.upsert(NAME, [point], wait=True)
                self.written.append((str(point.id), before, len(self.server.asked)))
                if over.wait(1 / PER_SECOND):
                    return


def served(world: World, server: QdrantStandIn) -> list[models.PointStruct]:
    """Put the demo's points on the server; the points as another run of the embedder would write them."""
    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as embedded:
        records, _ = embedded.scroll(NAME, limit=1000, with_vectors=True)
    with closing(QdrantClient(url=server.url, check_compatibility=False)) as client:
        copy_collection(world, client)
    noise = np.random.default_rng(1)
    vectors = np.array([record.vector for record in records]) + noise.normal(scale=1e-4, size=(len(records), 256))
    return [
        models.PointStruct(id=record.id, vector=row.tolist(), payload=record.payload)
        for record, row in zip(records, vectors, strict=True)
    ]


def set_aside(report: ValidationReport) -> set[str]:
    return {name for entry in report.findings if entry.code == "index.changed_during_read" for name in entry.subjects}


def readings(server: QdrantStandIn, run: range) -> tuple[list[int], list[int]]:
    """Numbers of the requests that read points when the run began, and when it ended: searches are between them."""
    found = [number for number in run if server.asked[number].endswith("/points/scroll")]
    gap = max(range(1, len(found)), key=lambda place: found[place] - found[place - 1])
    return found[:gap], found[gap:]


@pytest.mark.parametrize(("allowed", "verdict"), [(0.99, "pass"), (0.01, "not_measured")])
def test_what_is_written_between_the_first_and_the_last_reading_is_set_aside(
    world: World, allowed: float, verdict: str
) -> None:
    with qdrant_stand_in() as server:
        ingestion = Ingestion(server, served(world, server))
        suite = world.suite({
            "qdrant": {"url": server.url, "path": None, "max_changing": allowed},
            "latency": "off", "retrieval": {"repeats": 1},
        })  # fmt: skip
        with ingestion.working():
            time.sleep(1.0)
            begun = len(server.asked)
            report = run_suite(suite).report
            ended = len(server.asked)
            time.sleep(0.6)
        first, last = readings(server, range(begun, ended))
    surely = {name for name, before, after in ingestion.written if before > first[-1] and after <= last[0]}
    perhaps = {name for name, before, after in ingestion.written if after > first[0] and before <= last[-1] + 1}
    assert surely <= set_aside(report) <= perhaps
    assert len(perhaps - surely) <= PER_SECOND, "those at the moment of a reading"
    assert len(surely) >= PER_SECOND
    assert len(ingestion.written) > len(perhaps), "what was written before and after is as it was read"
    assert report.verdict == verdict
    [completeness] = [entry for entry in report.criteria if entry.name == "metadata_completeness"]
    if verdict == "pass":
        assert completeness.denominator == len(ingestion.points) - len(set_aside(report))
        assert {entry.code for entry in report.findings} == {"index.changed_during_read"}
