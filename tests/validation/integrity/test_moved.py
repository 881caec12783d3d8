from __future__ import annotations

from pathlib import Path

from tests.validation.factory import absolute
from tests.validation.integrity.world import BATTERY, CAMERA, GRIPPER, VISITORS, html, measured, paragraphs, point

PAGES: dict[str, str | None] = {
    "/a": html(paragraphs(GRIPPER, CAMERA)),
    "/b": html(paragraphs(BATTERY, VISITORS)),
}


def moved(folder: Path, *points: dict[str, object]) -> dict[str, list[str]]:
    """Pages by path and where their chunks went."""
    root = absolute("/").rstrip("/")
    found = measured(folder, PAGES, *points).sections["moved_pages"]
    return {page.removeprefix(root): [name.removeprefix(root) for name in names] for page, names in found.items()}


def test_a_page_without_chunks_went_where_its_text_is_stored(tmp_path: Path):
    stored = [point("/a", GRIPPER), point("/a", CAMERA, 1), point("/retired", f"Title: B\n{BATTERY}\n{VISITORS}\nEnd")]
    assert moved(tmp_path, *stored) == {"/b": ["/retired"]}


def test_points_without_an_address_hold_what_a_page_lacks(tmp_path: Path):
    stored = [point("/a", GRIPPER), point("/a", CAMERA, 1), point("", f"{BATTERY} {VISITORS}")]
    assert moved(tmp_path, *stored) == {"/b": ["2"]}


def test_one_chunk_may_have_gone_elsewhere(tmp_path: Path):
    stored = [point("/a", GRIPPER), point("/b", f"{BATTERY} {VISITORS}"), point("/retired", CAMERA, 1)]
    assert moved(tmp_path, *stored) == {"/a": ["/retired"]}


def test_a_chunk_under_another_pages_address_holds_what_its_own_page_lacks(tmp_path: Path):
    stored = [
        point("/a", GRIPPER),
        point("/a", VISITORS, 1),
        point("/b", f"{BATTERY} {VISITORS}"),
        point("/b", CAMERA, 1),
    ]
    assert moved(tmp_path, *stored) == {"/a": ["3"]}


def test_a_page_without_chunks_went_nowhere_where_a_small_part_of_it_stands_under_another_address(tmp_path: Path):
    pages = {
        "/a": html(paragraphs(GRIPPER, CAMERA, *(f"{VISITORS} {BATTERY}"[n:] for n in range(3)))),
        "/b": PAGES["/b"],
    }
    stored = [point("/b", BATTERY), point("/b", CAMERA, 1)]
    assert measured(tmp_path, pages, *stored).sections["moved_pages"] == {}


def test_a_page_that_is_not_in_scope_and_has_a_text_of_its_own_is_where_nothing_went(tmp_path: Path):
    stored = [point("/a", GRIPPER), point("/a", CAMERA, 1), point("/blog", "Yellow quiz, quiet zoo and jumping fox.")]
    assert moved(tmp_path, *stored) == {}


def test_of_a_page_that_lacks_nothing_nothing_went_elsewhere(tmp_path: Path):
    stored = [point("/a", f"{GRIPPER} {CAMERA}"), point("/b", f"{BATTERY} {VISITORS}"), point("/copy", GRIPPER)]
    assert moved(tmp_path, *stored) == {}


def test_a_short_chunk_with_a_link_is_looked_for_by_what_it_shows(tmp_path: Path):
    linked = BATTERY.replace("cabinet", "[cabinet](https://x.example/cabinet)")
    stored = [point("/a", f"{GRIPPER} {CAMERA}"), point("/b", VISITORS), point("/retired", linked)]
    assert moved(tmp_path, *stored) == {"/b": ["/retired"]}
