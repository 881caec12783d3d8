"""An index that changes between two reads of one run: the run says so, and no gate is met by what it saw of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.demo.workspace import DemoHome, build_demo
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.run import Run
from ragval_pipeline.sources.qdrant.connect import open_client
from ragval_pipeline.sources.qdrant.of_suite import reader_of_suite
from ragval_pipeline.sources.qdrant.reader import CollectionReader
from ragval_pipeline.suite.model import Suite
from tests.orchestration.world import NAME, World

Meddle = Callable[[Any], None]


@dataclass
class Moving:
    """The collection of a suite; something happens to it after the points were read."""

    meddle: Meddle
    opened: int = 0

    @contextmanager
    def reader_for(self, suite: Suite) -> Iterator[CollectionReader]:
        self.opened += 1
        with open_client(suite.qdrant) as client:
            if self.opened == 2:
                self.meddle(client)
            yield reader_of_suite(client, suite)


def ids(client: Any) -> list[Any]:
    return [record.id for record in client.scroll(NAME, limit=1000)[0]]


def delete(client: Any, count: int = 12) -> None:
    client.delete(NAME, ids(client)[:count])


def replace(client: Any) -> None:
    from qdrant_client import models

    [old], _ = client.scroll(NAME, limit=1, with_vectors=True)
    delete(client, 1)
    client.upsert(NAME, [models.PointStruct(id=7, vector=old.vector, payload=old.payload)])


def embed_again(client: Any) -> None:
    client.set_payload(NAME, {"embedded_at": "2026-11-22T10:00:00Z"}, points=ids(client)[:2])


MOVES: dict[str, tuple[Meddle, str]] = {
    "12 points deleted": (delete, "12 of them not what was read"),
    "a point replaced by another": (replace, "2 of them not what was read"),
    "2 points embedded again": (embed_again, "2 of them not what was read"),
}


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoHome:
    return build_demo(tmp_path_factory.mktemp("demo") / "home")


@pytest.mark.parametrize(("meddle", "told"), MOVES.values(), ids=MOVES)
def test_an_index_that_moves_during_the_run_meets_no_gate(
    demo: DemoHome, tmp_path: Path, meddle: Meddle, told: str
) -> None:
    report = run_with(demo, tmp_path, meddle).report
    assert report.verdict == "not_measured"
    [finding] = [finding for finding in report.findings if finding.code == "index.changed_during_read"]
    assert "at_the_end" in finding.details
    required = [criterion for criterion in report.criteria if criterion.required and not criterion.excused]
    assert required
    assert {criterion.verdict for criterion in required} == {"not_measured"}
    assert all("the collection changed while it was validated" in criterion.reason for criterion in required)
    assert all(told in criterion.reason for criterion in required)


def test_an_index_that_stays_as_it_is_passes(demo: DemoHome, tmp_path: Path) -> None:
    report = run_with(demo, tmp_path, lambda client: None).report
    assert (report.verdict, report.index["points_at_the_end"]) == ("pass", report.index["points_read"])


def run_with(demo: DemoHome, folder: Path, meddle: Meddle) -> Run:
    """A run over a copy of the demo, to whose index something happens after its points were read."""
    world = World.copied(demo, folder / "world")
    resource = dg.ResourceDefinition.hardcoded_resource(Moving(meddle))
    return run_suite(world.suite(), only={"coverage"}, resources={"qdrant": resource})
