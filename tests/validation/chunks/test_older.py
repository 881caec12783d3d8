"""An older version of a passage beside the current one: which points it is, and what is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, html, measured, paragraphs

OLD = CAMERA.replace("once a week", "twice a month")
PAGES = {"/a": html(paragraphs(GRIPPER, CAMERA, BATTERY))}


def stored(*texts: str, **payload: Any) -> list[dict[str, Any]]:
    return [{"source_url": "/a", "text": text, **payload} for text in texts]


def drifted(folder: Path, *points: dict[str, Any]) -> Any:
    found = measured(folder, PAGES, *points).findings
    return next(finding for finding in found if finding.code == "integrity.drifted")


def test_an_older_version_beside_the_current_one_is_deleted_and_not_ingested_again(tmp_path: Path):
    finding = drifted(tmp_path, *stored(GRIPPER, CAMERA, BATTERY, OLD))
    assert [(subject.name, subject.current) for subject in finding.subjects] == [("3", ("1",))]
    assert finding.message == "An older version of 1 passage is stored beside the current one."
    assert "delete_point_ids" in finding.remedy


def test_the_current_version_may_be_part_of_a_larger_chunk(tmp_path: Path):
    finding = drifted(tmp_path, *stored(GRIPPER, f"{CAMERA}\n{BATTERY}", OLD))
    assert [(subject.name, subject.current) for subject in finding.subjects] == [("2", ("1",))]


def test_a_changed_text_that_is_stored_in_no_current_version_is_ingested_again(tmp_path: Path):
    finding = drifted(tmp_path, *stored(GRIPPER, OLD, BATTERY))
    assert [subject.current for subject in finding.subjects] == [()]
    assert finding.remedy.startswith("Re-ingest")


def test_the_next_window_over_the_page_is_no_version_of_a_damaged_one(tmp_path: Path):
    windows = [f"{GRIPPER}\n{CAMERA}", f"{GRIPPER}\n{OLD}\n{BATTERY[:20]}"]
    numbered = [{**point, "chunk_index": number} for number, point in enumerate(stored(*windows))]
    assert [subject.current for subject in drifted(tmp_path, *numbered).subjects] == [()]
