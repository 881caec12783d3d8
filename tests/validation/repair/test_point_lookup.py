from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.measuring.planning import look_up_points
from ragval_pipeline.validation.repair.stored import PointFacts, PointLookup
from tests.validation.chunks.world import point, snapshot_of
from tests.validation.factory import absolute

POINTS = (
    point("/a", "first", 0, token_count=5), point("/a", "second", 1), point("/b", "third", 0, token_count=7),
    point("/c", "fourth", 0),
)  # fmt: skip


def test_points_sources_and_pages_are_found_by_their_names(tmp_path: Path):
    manifest = snapshot_of(tmp_path, dict.fromkeys(("/a", "/b", "/c")), *POINTS).manifest
    lookup = look_up_points(manifest, [absolute("/a"), "2"])
    assert lookup.ids_of == {absolute("/a"): ["0", "1"]}
    assert lookup.points.keys() == {"0", "1", "2"}
    assert lookup.of("3") == PointFacts()
    assert len(lookup.texts_of([absolute("/a")])) == 2


def test_a_missing_snapshot_costs_the_hints_and_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    snapshot = snapshot_of(tmp_path, {"/a": None}, POINTS[0])
    for part in (tmp_path / "points").rglob("*.parquet"):
        part.unlink()
    assert look_up_points(snapshot.manifest, ["0"]) == look_up_points(None, ["0"]) == PointLookup()
    assert "the report has no hints from it" in caplog.text
