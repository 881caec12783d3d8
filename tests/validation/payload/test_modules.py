from __future__ import annotations

from ragval_pipeline.sources.site.inventory import modules_of
from ragval_pipeline.validation.payload.modules import find_unexpected_modules
from tests.validation.factory import site
from tests.validation.rows import evidence, named

PAGES = tuple(f"/docs/{module}/p{page}" for module in ("module-1-ros2", "module-2-twin", "vla") for page in range(3))


def point(page: str, module: str | None) -> dict[str, object]:
    return {"source_url": page, "module": module, "text": "x"}


def judged(payloads, *, declared=None, pages=PAGES):
    paths = modules_of(site(*pages).pages)
    return list(find_unexpected_modules(evidence(*payloads, pages=pages, modules=declared, path_modules=paths)))


def named_after_paths(page: str) -> str:
    return page.split("/")[2].replace("-", " ").title()


def test_a_renamed_module_is_named_by_its_points_and_value():
    payloads = [point(page, named_after_paths(page)) for page in PAGES]
    payloads[4]["module"] = "Module 2 Archive"
    finding = judged(payloads)[0]
    assert named([finding]) == ["4"]
    assert finding.subjects[0].details["value"] == "Module 2 Archive"
    assert finding.details["values"] == {"Module 2 Archive": 1}


def test_half_of_the_points_may_be_renamed():
    payloads = [point(page, named_after_paths(page) if copy else "Old") for page in PAGES for copy in range(2)]
    assert len(named(judged(payloads))) == 9


def test_the_only_point_of_a_folder_may_be_renamed():
    pages = (*PAGES, "/docs/research-papers/schools")
    renamed, other = point(pages[-1], "Papers"), point("/docs/module-1-ros2/p0", "Module 1 Ros2")
    rest = [point(page, named_after_paths(page)) for page in PAGES]
    assert named(judged([renamed, *rest], pages=pages)) == ["0"]
    assert judged([renamed, renamed, *rest], pages=pages) == [], "two points that agree may be right"
    pages = (*PAGES, *(f"/docs/part-{number}/a" for number in range(2)))
    assert judged([other, *(point(page, "Papers") for page in pages[-2:])], pages=pages) == [], "most have other names"


def test_spelling_with_dashes_or_capitals_is_the_same_module():
    assert judged([point(PAGES[0], "MODULE_1-ros2"), point(PAGES[3], "module-2-twin"), point(PAGES[6], "VLA")]) == []


def test_modules_that_are_not_named_after_paths_cannot_be_compared():
    assert judged([point(page, f"Part {number}") for number, page in enumerate(PAGES)]) == []


def test_modules_are_those_of_the_folders_that_most_points_name():
    """The first folder of a path may be that of a version: a point that names it took the wrong part of the path."""
    pages = [f"/v{version}/{part}/p{page}" for version in (1, 2) for part in ("signal", "linalg") for page in range(3)]
    payloads = [point(page, page.split("/")[2]) for page in pages]
    assert judged(payloads, pages=pages) == []
    payloads[4]["module"] = "v1"
    [finding] = judged(payloads, pages=pages)
    assert (named([finding]), finding.details["allowed"]) == (["4"], ["linalg", "signal"])


def test_a_point_named_after_its_folder_does_not_accuse_all_others_of_it():
    payloads = [point(page, f"Part {number}") for number, page in enumerate(PAGES)]
    payloads[0]["module"] = "module-1-ros2"
    assert judged([payloads[0], *(point(PAGES[1], f"Part {number}") for number in range(5))]) == []


def test_declared_modules_are_held_to_wherever_the_point_is():
    payloads = [point(PAGES[0], "Part 1"), point("/elsewhere", "Part 2"), point(PAGES[1], "part-1")]
    assert named(judged(payloads, declared=["Part 1"])) == ["1"]


def test_a_page_out_of_scope_has_no_path_module_to_differ_from():
    payloads = [*[point(page, named_after_paths(page)) for page in PAGES], point("/blog/first", "Blog")]
    assert judged(payloads) == []


def test_the_start_page_is_in_no_module_whatever_it_is_called():
    pages = ("/", *PAGES)
    payloads = [*[point(page, named_after_paths(page)) for page in PAGES], point("/", "Home")]
    assert judged(payloads, pages=pages) == []
    assert named(judged([*payloads, point(PAGES[0], "Home")], pages=pages)) == ["10"]
    wrong = [point(page, "Old") for page in (PAGES[0], "/")]
    assert named(judged([*payloads, *wrong], pages=pages)) == ["10", "11"], "known as wrong, and not its only name"


def test_a_page_alone_at_the_top_level_is_in_no_module_whatever_it_is_called():
    pages = ("/docs/changelog", "/docs/guide-to-all", *PAGES)
    payloads = [*[point(page, named_after_paths(page)) for page in PAGES], point("/docs/changelog", "guide")]
    assert judged(payloads, pages=pages) == []
    assert named(judged([*payloads, point("/docs/changelog", "changelog")], pages=pages)) == ["9"]


def test_empty_modules_are_another_finding():
    payloads = [*[point(page, named_after_paths(page)) for page in PAGES], point(PAGES[0], ""), point(PAGES[0], None)]
    assert judged(payloads) == []
