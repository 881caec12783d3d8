"""Where the blocks of a page stand among its letters."""

from __future__ import annotations

import pytest

from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.facts import page
from tests.validation.integrity.world import BATTERY, CAMERA, GRIPPER, record

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
