from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.index.readiness import PointsRead, index_section


def manifest(before: int, read: int, after: int, **facts: Any) -> SnapshotManifest:
    return SnapshotManifest(
        run_id="run-1", staged_uri="/a", kept_uri="/b", parts=(), points=read, count_before=before, count_after=after,
        facts=CollectionFacts(name="docs", points_count=before, **facts), fields={}, required=(), observed=("a", "b.c"),
    )  # fmt: skip


def test_a_collection_that_stays_the_same_has_no_finding() -> None:
    assert find_all(PointsRead(manifest(7, 7, 7))) == []


@pytest.mark.parametrize("counts", [(7, 6, 7), (7, 7, 8), (7, 8, 8), (0, 0, 3), (5, 0, 1)])
def test_counts_that_differ_are_a_change_during_the_read(counts: tuple[int, int, int]) -> None:
    [finding] = find_all(PointsRead(manifest(*counts)))
    assert (finding.code, finding.severity) == ("index.changed_during_read", "warning")
    assert finding.details == dict(zip(("before", "read", "after"), counts, strict=True))


def test_a_collection_that_was_emptied_meanwhile_is_empty_now() -> None:
    assert [finding.code for finding in find_all(PointsRead(manifest(5, 0, 0)))] == ["index.empty"]


def test_a_filter_that_nothing_passes_is_distinguished_from_an_empty_collection() -> None:
    assert find_all(PointsRead(manifest(0, 0, 0)))[0].message == "The collection docs holds no points."
    [finding] = find_all(PointsRead(manifest(0, 0, 0, stored_points=7)))
    assert finding.message == "None of the 7 points of docs passes qdrant.filter."


def test_the_report_tells_the_facts_of_the_collection_and_the_read() -> None:
    section = index_section(manifest(7, 7, 7, alias="live", server_version="1.20.0", metadata={"model": "m"}))
    assert (section["name"], section["alias"], section["points_count"]) == ("docs", "live", 7)
    assert (section["points_read"], section["observed_fields"]) == (7, ["a", "b.c"])
    assert (section["server_version"], section["metadata"]) == ("1.20.0", {"model": "m"})
