from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.sameness import Differences
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.index.readiness import PointsRead, changed_while_judged, index_section


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


def test_an_absurd_count_is_no_steady_collection() -> None:
    read = PointsRead(manifest(10**12, 91, 10**12), Differences(read=91, now=91))
    [finding] = find_all(read)
    assert finding.message == "Qdrant counts 1,000,000,000,000 points, and returns 91."
    assert "changed while it was validated" in changed_while_judged(read)
    # Not by shard keys either: an id is in each shard once at most.
    absurd = PointsRead(manifest(10**12, 91, 10**12, sharding="custom", segments=8), Differences(read=91, now=91))
    assert changed_while_judged(absurd)
    twice = PointsRead(manifest(182, 91, 182, sharding="custom", segments=8), Differences(read=91, now=91))
    assert not changed_while_judged(twice)
    assert "several shard keys" in find_all(twice)[0].cause


def test_points_that_changed_are_named_with_what_became_of_them() -> None:
    found = Differences(read=1000, now=1001, gone=("4",), come=("8", "9"), changed=("2", "3"))
    read = PointsRead(manifest(1000, 1000, 1001), found, max_changing=0.01)
    [finding] = find_all(read)
    assert {subject.name: subject.details["change"] for subject in finding.subjects} == {
        "2": "changed", "3": "changed", "4": "went", "8": "came", "9": "came",
    }  # fmt: skip
    assert finding.message == "5 points changed while the index was validated."
    assert (finding.details["came"], finding.details["went"], finding.details["changed"]) == (2, 1, 2)
    assert read.is_steady
    assert changed_while_judged(read) == ""


@pytest.mark.parametrize(
    "found",
    [
        Differences(read=1000, now=1000, changed=tuple(map(str, range(11)))),
        Differences(read=1000, now=1000, moved=True, collection="other"),
        Differences(read=1000, now=1000, settings=True),
    ],
)
def test_too_many_changed_points_or_another_collection_meet_no_gate(found: Differences) -> None:
    read = PointsRead(manifest(1000, 1000, 1000), found, max_changing=0.01)
    assert len(find_all(read)) == 1
    assert changed_while_judged(read)


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
