"""A collection that is written while it is validated: what changed is named, and the rest gets its verdict."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.testing.services import PassingReader, Service, resources_of
from ragval_pipeline.validation.report import ValidationReport
from tests.orchestration.world import NAME, World

ADDED = str(uuid.UUID(int=7))


class Written(PassingReader):
    """A reader of a collection that an ingestion writes to before the vectors are read a second time."""

    def __init__(self, inner: Any, writes: list[Callable[[QdrantClient], None]]) -> None:
        super().__init__(inner)
        self._writes = writes

    def vectors(self, ids: Any = None) -> Iterator[Any]:
        if ids is not None and self._writes:
            self._writes.pop()(self.inner.inner._client)
        return self.inner.vectors(ids)


def validated(world: World, write: Callable[[QdrantClient], None] | None, **qdrant: Any) -> ValidationReport:
    writes = [] if write is None else [write]
    suite = world.suite({"qdrant": qdrant, "latency": "off", "retrieval": {"repeats": 1}})
    service = Service(reader=lambda inner: Written(inner, writes))
    report = run_suite(suite, resources=resources_of([service])).report
    assert not writes
    return report


def alarms(report: ValidationReport) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity != "info"}


def criterion(report: ValidationReport, name: str) -> Any:
    return next(entry for entry in report.criteria if entry.name == name)


def some(client: QdrantClient, places: slice) -> list[models.PointStruct]:
    """Some stored points, each page's last ones first: nothing expects these."""
    records, _ = client.scroll(NAME, limit=1000, with_vectors=True)
    records.sort(key=lambda record: -(record.payload or {})["chunk_index"])
    return [
        models.PointStruct(id=record.id, payload=dict(record.payload or {}), vector=record.vector)  # type: ignore[arg-type]
        for record in records[places]
    ]


def test_points_that_change_meanwhile_are_set_aside_and_the_rest_is_judged(world: World, without_gx: None) -> None:
    touched: dict[str, set[str]] = {}

    def write(client: QdrantClient) -> None:
        changed, gone, copied = some(client, slice(0, 3))
        # An old text with a new vector, as a run that is overtaken by an ingestion sees it.
        changed.payload = {**(changed.payload or {}), "chunk_text": "An entirely different text about gardening."}
        changed.vector = [-value for value in changed.vector]  # type: ignore[union-attr, operator]
        added = models.PointStruct(id=ADDED, payload=copied.payload, vector=copied.vector)
        client.upsert(NAME, [changed, added])
        client.delete(NAME, [gone.id])
        touched.update(changed={str(changed.id)}, went={str(gone.id)}, came={ADDED})

    report = validated(world, write, max_changing=0.05)
    [finding] = [entry for entry in report.findings if entry.code == "index.changed_during_read"]
    assert set(finding.subjects) == set().union(*touched.values())
    measured = finding.measured
    assert {name: measured[name]["change"] for name in finding.subjects} == {
        name: change for change, names in touched.items() for name in names
    }
    assert alarms(report) == {"index.changed_during_read"}
    assert report.verdict == "pass"
    assert criterion(report, "metadata_completeness").denominator == report.index["points_read"] - 2
    assert criterion(report, "coverage").value == 1.0


@pytest.mark.slow
def test_more_changes_than_the_suite_allows_meet_no_gate(world: World, without_gx: None) -> None:
    def write(client: QdrantClient) -> None:
        points = some(client, slice(0, 10))
        for point in points:
            point.payload = {**(point.payload or {}), "chunk_text": "x"}
        client.upsert(NAME, points)

    report = validated(world, write, max_changing=0.05)
    [finding] = [entry for entry in report.findings if entry.code == "index.changed_during_read"]
    assert finding.count == 10
    assert report.verdict == "not_measured"
    assert "the collection changed while it was validated" in criterion(report, "coverage").reason


@pytest.mark.slow
def test_a_collection_that_is_created_again_with_another_dimension_is_no_defect_of_ragval(
    world: World, without_gx: None
) -> None:
    def write(client: QdrantClient) -> None:
        records, _ = client.scroll(NAME, limit=1000, with_vectors=True)
        client.delete_collection(NAME)
        space = models.VectorParams(size=128, distance=models.Distance.COSINE)
        client.create_collection(NAME, vectors_config=space)
        points = [
            models.PointStruct(id=each.id, payload=each.payload, vector=each.vector[:128])  # type: ignore[index, arg-type]
            for each in records
        ]
        client.upsert(NAME, points)

    report = validated(world, write)
    assert "check.crashed" not in alarms(report)
    assert report.verdict in {"fail", "not_measured", "error"}
    [finding] = [entry for entry in report.findings if entry.code == "vector.dimension"]
    assert "had 256 numbers when the run began, and now have 128: it was created again" in finding.message


@pytest.mark.slow
def test_a_page_that_arrives_meanwhile_is_neither_missing_nor_there(world: World, without_gx: None) -> None:
    from contextlib import closing

    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as client:
        records, _ = client.scroll(NAME, limit=1000, with_vectors=True)
        page = (records[0].payload or {})["source_url"]
        held = [record for record in records if (record.payload or {})["source_url"] == page]
        client.delete(NAME, [record.id for record in held])

    def write(client: QdrantClient) -> None:
        client.upsert(
            NAME,
            [models.PointStruct(id=each.id, payload=each.payload, vector=each.vector) for each in held],  # type: ignore[arg-type]
        )

    report = validated(world, write, max_changing=0.5)
    assert "coverage.missing_page" not in alarms(report)
    coverage = criterion(report, "coverage")
    assert (coverage.value, coverage.numerator) == (1.0, coverage.denominator)
