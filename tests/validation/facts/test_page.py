"""Where the blocks of a page stand among its letters."""

from __future__ import annotations

import pytest

from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.facts import page
from ragval_pipeline.validation.facts.align import align
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, record

MENU = "<nav><a href=/c>Camera</a><a href=/g>Gripper</a></nav>"
SECTIONS = (
    f"<h2>Gripper</h2><p>{GRIPPER}</p><h2>Camera</h2><p>{CAMERA}</p><p>{GRIPPER}</p><h2>Camera</h2><p>{BATTERY}</p>"
)


@pytest.mark.parametrize("compared", [page._COMPARED, 0], ids=["each line with each", "line by line"])
def test_the_places_of_a_block_hold_its_letters_and_follow_each_other(monkeypatch: pytest.MonkeyPatch, compared: int):
    monkeypatch.setattr(page, "_COMPARED", compared)
    found = page.Page(record(f"{MENU}{SECTIONS}<pre>a = 1\n\nb = 2</pre>"))
    held = ["".join(found.letters[start:end] for start, end in places) for places in found.places]
    assert held == [fold(block.text.replace("\n", " ")) for block in found.blocks]
    starts = [places[0][0] for places in found.places]
    assert starts == sorted(starts), "the heading behind the menu, and not the menu"


@pytest.mark.parametrize("compared", [page._COMPARED, 0], ids=["each line with each", "line by line"])
def test_lines_of_code_stand_behind_their_numbers_and_not_where_the_text_repeats_one(
    monkeypatch: pytest.MonkeyPatch, compared: int
):
    monkeypatch.setattr(page, "_COMPARED", compared)
    code = ("def calibrate():", "Calibrate the camera.", "return measure(board)")
    lines = "".join(
        f'<span><span class="linenos"> {number}</span>{line}</span>\n' for number, line in enumerate(code, 98)
    )
    found = page.Page(record(f"<h2>Camera</h2><pre>{lines}</pre><p>Calibrate the camera.</p><p>{BATTERY}</p>"))
    assert found.letters.startswith("98def", found.places[1][0][0] - 2)
    places = [place for places in found.places for place in places]
    assert ["".join(found.letters[start:end]) for start, end in places[1:4]] == [fold(line) for line in code]
    assert places == sorted(places)


def test_a_line_that_the_page_says_a_second_time_within_itself_stands_where_its_line_does():
    """A formula: what is seen, its source, and how it is drawn."""
    formula = (
        '<span><math><semantics><mi>E=quiz</mi><annotation encoding="application/x-tex">E = \\waltz</annotation>'
        '</semantics></math><span aria-hidden="true">E=quiz</span></span>'
    )
    said = [
        text.replace(" and ", f" and {formula} ").replace(" until ", f" until {formula} ") for text in (GRIPPER, CAMERA)
    ]
    found = page.Page(record(f"<p>{BATTERY}</p>{''.join(f'<p>{text}</p>' for text in said)}<p>{VISITORS}</p>"))
    starts = [found.position(places[0][0]) for places in found.places]
    assert starts == sorted(starts)
    assert [places[0][0] for places in found.places] != starts
    body = [found.letters.index(fold(text)[:15]) for text in (BATTERY, GRIPPER, CAMERA, VISITORS)]
    assert starts == body
    written = align("E = \\waltz", found).spans
    assert [span.length for span in written] == [len("ewaltz")]


def test_what_the_page_shows_is_not_looked_for_in_descriptions_that_nobody_sees():
    content = f'<p>{GRIPPER}</p><p>{CAMERA}</p><img alt="{CAMERA}"><img alt="Zoo"><img alt="Drawing of the arm">'
    found = page.Page(record(content))
    chunk = align(f"Drawing of the arm\n{CAMERA}", found)
    assert chunk.letters_found == chunk.letters
    assert chunk.spans[-1].place == found.letters.index(fold(CAMERA)), "which stands behind the text as well"
