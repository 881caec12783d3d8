from __future__ import annotations

import pytest

from ragval_pipeline.validation.payload.ids import find_constants
from tests.validation.rows import evidence, named


def point(number: int, **changes: object) -> dict[str, object]:
    page = number // 3
    return {
        "source_url": f"/docs/m{page % 2}/p{page}",
        "title": f"Page {page}",
        "module": f"m{page % 2}",
        "chapter": f"m{page % 2}/p{page}",
        "headings": [f"Page {page}", f"Part {number}"],
        "token_count": 20 + number,
        "chunk_index": number % 3,
        "text": "word " * (10 + number) + str(number),
        **changes,
    }


def judged(payloads, *, modules=("m0", "m1"), filtered=()):
    indexed = {f"https://docs.example.com/docs/m{page % 2}/p{page}": modules[page % 2] for page in range(8)}
    return list(find_constants(evidence(*payloads, filtered=filtered, path_modules=indexed)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("module", "Docs"), ("chapter", "docs"), ("title", "Our Docs"), ("headings", ["Our Docs"]), ("chunk_index", 0),
        ("token_count", 512), ("source_url", "/docs/index"),
    ],
)  # fmt: skip
def test_a_field_with_one_value_everywhere_is_named(name, value):
    finding = judged([point(number, **{name: value}) for number in range(24)])[0]
    assert named([finding]) == [name]
    assert finding.subjects[0].details["field"] == name


def test_points_without_a_proper_address_are_not_the_chunks_of_one_page():
    pages = [point(3 * number, source_url=f"https://docs.example.com/p{number}") for number in range(12)]
    lost = [{**page, "source_url": "N/A"} for page in pages[6:]]
    assert judged([*pages[:6], *lost]) == []
    twice = [{**page, "text": f"{page['text']} again"} for page in pages[:6]]
    assert named(judged([*pages[:6], *twice, *lost])) == ["chunk_index"]


SAME = "word " * 20


@pytest.mark.parametrize(
    ("points", "settings"),
    [
        pytest.param([point(at, module="Docs") for at in range(24)], {"modules": ("docs", "docs")}, id="one module"),
        pytest.param(
            [point(at, module="m0") for at in range(24)], {"filtered": ("module",)}, id="a filter of the suite"
        ),
        pytest.param(
            [point(at, token_count=20, text=f"{SAME}{at:02}") for at in range(24)], {}, id="texts of one length"
        ),
        pytest.param([point(at, module="", title=None) for at in range(24)], {}, id="empty, which is another finding"),
        pytest.param([point(at, title="Our Docs") for at in range(2)], {}, id="too few points"),
    ],
)
def test_a_field_that_has_one_value_with_reason_is_not_named(points, settings):
    assert judged(points, **settings) == []


def test_a_site_whose_pages_are_all_in_one_folder_has_one_module():
    points = [point(number, module="releases") for number in range(24)]
    flat = {f"https://docs.example.com/docs/m{page % 2}/p{page}": f"p{page}" for page in range(8)}
    assert list(find_constants(evidence(*points, path_modules=flat))) == []


def test_an_index_of_one_chunk_pages_has_one_chunk_index():
    pages = [point(number, source_url=f"/p{number}", chunk_index=0) for number in range(12)]
    assert judged(pages) == []
    assert judged([*pages, *pages]) == []  # ingested twice
