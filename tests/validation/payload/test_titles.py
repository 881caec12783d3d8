"""Stored titles compared with the names of the pages that were read."""

from __future__ import annotations

import pytest

from ragval_pipeline.validation.payload.evidence import measure_payloads
from tests.validation.rows import evidence

PAGES = {
    "/motors": "Motors",
    "/gears": "Gears and belts",
    "/tools/wrench": "The wrench",
    "/oil": "Oil",
    "/start": "Start",
}


def invalid(titles: dict[str, str], called: dict[str, str] = PAGES) -> dict[str, str]:
    """The page that each point's title was found to name, by the point's page; one point per page."""
    points = [{"text": "The arm turns.", "source_url": path, "title": title} for path, title in titles.items()]
    held = evidence(*points, pages=tuple(called), called=called)
    findings = [finding for finding in measure_payloads(held).findings if finding.code == "payload.invalid_value"]
    assert {finding.severity for finding in findings} <= {"warning"}
    return {
        list(titles)[int(subject.name)]: subject.details["title_of"].rpartition(".com")[2]
        for finding in findings
        for subject in finding.subjects
    }


def test_the_title_of_the_page_before_in_the_loop_is_named_with_its_page():
    assert invalid({**PAGES, "/gears": "Motors"}) == {"/gears": "/motors"}
    pages = list(PAGES)
    late = {page: PAGES[before] for page, before in zip(pages[1:], pages, strict=False)}
    assert invalid(late) == dict(zip(pages[1:], pages, strict=False))


@pytest.mark.parametrize("title", ["Motors", "Motors | Arms"])
def test_a_title_names_its_page_with_or_without_the_name_of_the_site_whatever_headings_pages_share(title: str):
    assert invalid({**PAGES, "/gears": title}) == {"/gears": "/motors"}


@pytest.mark.parametrize(
    "title", ["Gears", "gears AND Belts", "Gears and belts | Arms", "How to oil", "Part 2: Gears", ""]
)
def test_a_title_that_names_its_page_or_none_at_all_is_valid(title: str):
    assert invalid({**PAGES, "/gears": title}) == {}


def test_a_title_that_the_address_of_its_page_holds_is_valid():
    """A sidebar's label or the name of a file."""
    assert invalid({**PAGES, "/tools/wrench": "Tools"}, {**PAGES, "/all": "Tools"}) == {}


def test_the_title_of_a_chapter_or_of_the_site_is_no_title_of_another_page():
    assert invalid(dict.fromkeys(PAGES, "Start")) == {}
    assert invalid({**dict.fromkeys(PAGES, "Motors"), "/start": "Start"}) == {}


def test_titles_are_not_compared_with_pages_that_were_not_read():
    assert invalid({**PAGES, "/gears": "Motors"}, {}) == {}
