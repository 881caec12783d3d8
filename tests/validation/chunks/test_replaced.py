"""What took the place of what a page lost: a heading that a chunk ends with, and points of which no letter is left."""

from __future__ import annotations

from pathlib import Path

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.rules.aspects import Aspect
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, html, measured, paragraphs, point


def lost(folder: Path, content: str, code: str, *stored: str) -> Subject:
    found = measured(folder, {"/a": html(content)}, *(point("/a", text, at) for at, text in enumerate(stored)))
    [subject] = next(finding for finding in found.findings if finding.code == code).subjects
    return subject


def test_a_heading_that_a_chunk_ends_with_is_lost_by_its_other_words_only_where_they_stand_in_its_place(tmp_path: Path):
    content = f"<p>{GRIPPER} {CAMERA}</p><h2>Größen</h2><p>{BATTERY}</p>"
    for number, (first, follows) in enumerate(
        ((f"{GRIPPER} {CAMERA} Gr\\u00f6\\u00dfen", True), (f"{GRIPPER} {CAMERA[:60]} zebras", False))
    ):
        heading = lost(tmp_path / str(number), content, "integrity.heading_loss", first, BATTERY)
        assert (Aspect.LETTERS not in heading.without) is follows


def test_a_passage_may_be_lost_by_the_letters_of_a_point_of_which_none_is_left(tmp_path: Path):
    for number, (second, follows) in enumerate((("????? ??????, ????", True), (BATTERY, False))):
        passage = lost(
            tmp_path / str(number), paragraphs(GRIPPER, CAMERA, BATTERY), "integrity.not_captured", GRIPPER, second
        )
        assert (Aspect.LETTERS not in passage.without) is follows
