"""Headings that no chunk holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validation.chunks.world import (
    BATTERY,
    CAMERA,
    CHUNKS,
    GRIPPER,
    SECTIONS,
    VISITORS,
    compared,
    html,
    measured,
    paragraphs,
    point,
)  # fmt: skip


def headings(*chunks: str, content: str = SECTIONS, **payload: object) -> list[str]:
    return compared(content, *chunks, **payload).headings


def test_a_section_in_no_chunk_is_lost_with_its_heading_named_once():
    page = compared(SECTIONS, CHUNKS[0], CHUNKS[2])
    assert page.passages == [CAMERA]
    assert page.headings == []
    assert page.content - page.captured == sum(map(str.isalnum, f"Camera care{CAMERA}"))


def test_a_heading_whose_text_is_there_is_missed():
    assert headings(CHUNKS[0], CAMERA, CHUNKS[2]) == ["Camera care"]
    assert headings(GRIPPER, CAMERA, BATTERY) == ["Using the arm", "Camera care", "Power"]


def test_a_heading_that_is_stored_beside_the_text_is_not_missed():
    assert headings(GRIPPER, CAMERA, BATTERY, headings=["Using the arm", "Camera care", "Power"]) == []
    assert headings(CHUNKS[0], CAMERA, CHUNKS[2], title="Camera care") == []


@pytest.mark.parametrize(("title", "told"), [("Camera care - Arms | Handbook", True), ("Camera care of arms", False)])
def test_a_heading_is_not_missed_where_a_title_says_it_before_the_site(title: str, told: bool):
    assert (headings(CHUNKS[0], CAMERA, CHUNKS[2], title=title) == []) is told


@pytest.mark.parametrize("title", ["Using the arm", '"Using the arm"', "'Using the arm'  "])
def test_a_heading_that_only_the_front_matter_of_a_source_says_is_not_missed(title: str):
    assert headings(f"---\nid: arm\ntitle: {title}\n---\n\n{GRIPPER}", *CHUNKS[1:]) == []
    assert headings(f"---\nid: arm\ntitle: Another one\n---\n\n{GRIPPER}", *CHUNKS[1:]) == ["Using the arm"]


def test_a_heading_with_a_link_to_itself_is_not_missed_where_it_stands_in_the_text_and_beside_it():
    linked = 'Camera care[#](#camera-care "Link to this heading")'
    chunk = f"## {linked}\n\n{CAMERA}"
    assert headings(CHUNKS[0], chunk, CHUNKS[2]) == []
    assert headings(CHUNKS[0], chunk, CHUNKS[2], headings=[linked]) == []


def test_a_heading_in_another_case_or_with_a_number_is_not_missed():
    numbered = SECTIONS.replace("Camera care", "2.1 Camera care")
    assert headings(CHUNKS[0], f"CAMERA CARE\n{CAMERA}", CHUNKS[2], content=numbered) == []


@pytest.mark.parametrize("name", ["x-arm(1)", "reposition-camera(1)"])
def test_a_heading_is_not_missed_where_a_title_has_most_of_its_words_however_long_they_are(name: str):
    content = SECTIONS.replace("Camera care", f"{name} Manual Page")
    assert headings(CHUNKS[0], CAMERA, CHUNKS[2], content=content, title=name) == []
    for title in (f"{name} of the arm", "Manual Page", "x", ""):
        assert headings(CHUNKS[0], CAMERA, CHUNKS[2], content=content, title=title) == [f"{name} Manual Page"]


def test_a_heading_whose_code_a_splitter_moved_behind_it_is_not_missed():
    content = SECTIONS.replace("Camera care", "How to <code>care!</code> for cameras")
    assert headings(CHUNKS[0], f"How to for cameras\n{CAMERA}\ncare!", CHUNKS[2], content=content) == []
    assert headings(CHUNKS[0], CAMERA, f"{CHUNKS[2]}\nHow to for cameras", content=content) == []
    assert headings(CHUNKS[0], f"How to\n{CAMERA}\ncare!", CHUNKS[2], content=content) == ["How to care! for cameras"]


@pytest.mark.parametrize("begin", ["The recursion limit attribute is put in front of", "In front of"])
def test_a_heading_is_missed_although_sentences_of_its_page_begin_with_its_words(begin: str):
    says = f"{begin} a hall whose lights go out when nobody asks for anything in it."
    others = "Nobody may move the recursion limit attribute of a hall, whatever the clock upstairs may say."
    content = f"{SECTIONS}<h2>The recursion limit attribute</h2><p>{says}</p><p>{others}</p>"
    assert headings(*CHUNKS, f"{says}\n{others}", content=content) == ["The recursion limit attribute"]
    assert headings(*CHUNKS, f"The recursion limit attribute {says} {others}", content=content) == []


def test_a_heading_lost_with_items_too_short_to_be_passages_is_named_for_all_of_them():
    content = f"{SECTIONS}<h2>Spare parts</h2><ul><li>Grey fuse</li><li>Long belt</li></ul>"
    page = compared(content, *CHUNKS)
    assert (page.passages, page.headings) == ([], ["Spare parts"])


def test_a_heading_within_a_stretch_that_was_lost_is_part_of_it_whatever_labels_lie_between():
    entry = f"<h2>Fuses</h2><pre>fuse()</pre><p>{CAMERA}</p><h2>Belts</h2><pre>belt()</pre>"
    page = compared(
        f"<h1>Using the arm</h1><p>{GRIPPER}</p>{entry}<p>{BATTERY}</p>", f"Using the arm\n{GRIPPER} fuse()", BATTERY
    )
    assert (page.passages, page.headings) == ([CAMERA], [])


def test_a_heading_that_the_chunker_cut_in_two_is_not_missed():
    assert headings(f"{CHUNKS[0]}\nCam", f"Docs > Arm\nera care\n{CAMERA}", CHUNKS[2], title="Docs > Arm") == []


def test_a_heading_whose_words_a_menu_has_is_looked_for_in_front_of_its_text():
    menu = "<nav><ul><li>Using the arm</li><li>Camera care</li></ul></nav>"
    assert headings(*CHUNKS, content=f"{menu}{SECTIONS}") == []
    assert headings(GRIPPER, *CHUNKS[1:], content=f"{menu}{SECTIONS}") == ["Using the arm"]


def test_a_heading_that_a_component_of_a_stored_source_is_given_is_not_missed():
    figure = '{{< figure src="arm.png" title="Using the arm" >}}'
    assert headings(f"{figure}\n{GRIPPER}", *CHUNKS[1:]) == []
    assert headings(f"{figure.replace('Using', 'Moving')}\n{GRIPPER}", *CHUNKS[1:]) == ["Using the arm"]


def test_a_heading_that_was_cut_off_with_most_of_a_passage_is_no_heading_that_the_extraction_removes():
    long = f"{GRIPPER} {VISITORS}"
    content = f"<h2>Lifting</h2>{paragraphs(long)}<h2>Spare parts</h2>{paragraphs(CAMERA, BATTERY)}"
    page = compared(content, f"Lifting\n{long[: len(long) * 6 // 10]}", CAMERA)
    assert (page.passages, page.headings) == ([f"…{long[len(long) * 6 // 10 :]}", BATTERY], [])
    stripped = compared(content, f"Lifting\n{long}", CAMERA)
    assert (stripped.passages, stripped.headings) == ([BATTERY], ["Spare parts"])


def test_a_heading_behind_all_that_the_chunks_hold_was_cut_off_although_its_section_repeats_an_earlier_one():
    content = f"{paragraphs(GRIPPER, BATTERY, GRIPPER)}<h2>Once more</h2>{paragraphs(GRIPPER)}"
    page = compared(content, GRIPPER)
    assert (page.passages, page.headings) == ([BATTERY], [])


def test_headings_missing_on_most_pages_are_removed_by_the_ingestion_and_not_by_edits(tmp_path: Path):
    texts = {f"/{at}": text for at, text in enumerate((GRIPPER, CAMERA, BATTERY, VISITORS))}
    pages = {page: html(f"<h2>About {text[:20]}</h2>{paragraphs(text)}") for page, text in texts.items()}

    def cause(*without: str) -> str:
        stored = [
            point(page, text if page in without else f"About {text[:20]}\n{text}") for page, text in texts.items()
        ]
        found = measured(tmp_path / str(len(without)), pages, *stored).findings
        return str(next(finding.cause for finding in found if finding.code == "integrity.heading_loss"))

    assert cause("/0", "/1", "/3").startswith("Headings of 3 of 4 stored pages are missing, so it is the ingestion")
    assert "edited" in cause("/0")
