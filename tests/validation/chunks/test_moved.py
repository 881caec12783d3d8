from __future__ import annotations

from pathlib import Path

import pytest

from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, html, measured, paragraphs, point
from tests.validation.factory import absolute

PAGES: dict[str, str | None] = {
    "/a": html(paragraphs(GRIPPER, CAMERA)),
    "/b": html(paragraphs(BATTERY, VISITORS)),
}


def moved(folder: Path, *points: dict[str, object]) -> dict[str, list[str]]:
    """Pages by path and where their chunks went."""
    root = absolute("/").rstrip("/")
    found = measured(folder, PAGES, *points).sections["moved_pages"]
    return {page.removeprefix(root): [name.removeprefix(root) for name in names] for page, names in found.items()}


A, B = (point("/a", GRIPPER), point("/a", CAMERA, 1)), point("/b", f"{BATTERY} {VISITORS}")
LINKED = BATTERY.replace("cabinet", "[cabinet](https://x.example/cabinet)")


@pytest.mark.parametrize(
    ("stored", "went"),
    [
        pytest.param(
            [*A, point("/retired", f"Title: B\n{BATTERY}\n{VISITORS}\nEnd")], {"/b": ["/retired"]}, id="a whole page"
        ),
        pytest.param([*A, point("", f"{BATTERY} {VISITORS}")], {"/b": ["2"]}, id="to points without an address"),
        pytest.param([A[0], B, point("/retired", CAMERA, 1)], {"/a": ["/retired"]}, id="one chunk"),
        pytest.param(
            [A[0], point("/a", VISITORS, 1), B, point("/b", CAMERA, 1)], {"/a": ["3"]}, id="to another page's address"
        ),
        pytest.param([*A, point("/b", VISITORS), point("/retired", LINKED)], {"/b": ["/retired"]}, id="with a link"),
        pytest.param(
            [*A, point("/blog", "Yellow quiz, quiet zoo and jumping fox.")], {}, id="not to a text of its own"
        ),
        pytest.param([*A, B, point("/copy", GRIPPER)], {}, id="not of a page that lacks nothing"),
    ],
)
def test_what_a_page_lacks_went_where_its_text_is_stored(tmp_path: Path, stored: list[dict[str, object]], went):
    assert moved(tmp_path, *stored) == went


def test_a_page_without_chunks_went_nowhere_where_a_small_part_of_it_stands_under_another_address(tmp_path: Path):
    pages = {
        "/a": html(paragraphs(GRIPPER, CAMERA, *(f"{VISITORS} {BATTERY}"[n:] for n in range(3)))),
        "/b": PAGES["/b"],
    }
    stored = [point("/b", BATTERY), point("/b", CAMERA, 1)]
    assert measured(tmp_path, pages, *stored).sections["moved_pages"] == {}


def test_a_short_page_below_a_long_menu_went_where_its_chunks_are(tmp_path: Path):
    menu = f"<nav>{paragraphs(*(f'{GRIPPER} {number} {CAMERA}' for number in range(9)))}</nav>"
    pages = {"/a": html(paragraphs(GRIPPER), frame=menu), "/b": html(paragraphs(BATTERY, VISITORS), frame=menu)}
    stored = [point("/a", GRIPPER), point("/a", f"{BATTERY} {VISITORS}", 1)]
    found = measured(tmp_path, pages, *stored).sections["moved_pages"]
    assert {page.rpartition("/")[2]: names for page, names in found.items()} == {"b": ["1"]}


def test_a_text_that_menus_show_on_all_pages_tells_of_none_that_it_went_there(tmp_path: Path):
    """A chunk may hold a title alone, which the menu of each page has."""
    title = "How to replace the worn gripper of the left arm without taking the cover off"
    menu = f"<nav>{paragraphs(title)}</nav>"
    pages = {
        "/a": html(paragraphs(GRIPPER, CAMERA), frame=menu),
        "/b": html(paragraphs(BATTERY, VISITORS), frame=menu),
        "/c": html(paragraphs(title, f"{VISITORS} {GRIPPER}"), frame=menu),
    }
    old = (point("/old", title), point("/old", f"{VISITORS} {GRIPPER}", 1))
    stored = [point("/a", GRIPPER), point("/b", BATTERY), *old]
    found = measured(tmp_path, pages, *stored).sections["moved_pages"]
    assert [page.rpartition("/")[2] for page in found] == ["c"]
