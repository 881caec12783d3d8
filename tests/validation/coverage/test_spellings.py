from __future__ import annotations

from collections.abc import Mapping

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.graph import explain
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.validation.coverage.addresses import in_what_they_differ
from ragval_pipeline.validation.coverage.compare import measure_coverage
from ragval_pipeline.validation.coverage.covered import Covered
from ragval_pipeline.validation.coverage.indexed import IndexedPage, collect_pages
from ragval_pipeline.validation.relational import find_by_query
from tests.validation.factory import NOW, SITE, absolute, index, site


def spelled(indexed: Mapping[str, IndexedPage]) -> list[Subject]:
    found = find_by_query([CATALOGUE["coverage.url_variant"]], Covered(site("/a"), indexed, 1, NOW))
    return [subject for finding in found for subject in finding.subjects]


def variants(*urls: str) -> list[str]:
    inventory = site("/a", "/b")
    return sorted(subject.name for subject in spelled(index(inventory, *urls)))


@pytest.mark.parametrize(
    ("urls", "named"),
    [
        (("/a", "/a/", "/b"), ("/a", "/a/")),
        (("/a.html", "/a.html", "/b/"), ()),  # it differs from the sitemap's only
        (("/a#one", "/a#two", "/a"), ()),  # places on one page
        (("/a#one", "/a/#two"), ("/a#one", "/a/#two")),
        (("/a", "/A", "https://other.example.org/a"), ()),
    ],
)
def test_spellings_of_one_page_are_all_named(urls: tuple[str, ...], named: tuple[str, ...]) -> None:
    assert variants(*urls) == [f"{SITE}{path}" for path in named]


def chunks(*stored: tuple[str, int | None, str]):
    """The pages of an index with these chunks: URL, index, text."""
    fold = site("/a").folder().key
    return collect_pages(
        {"page_key": fold(absolute(url)), "source_url": absolute(url), "embedded_at": None, "chunk_index": index,
         "text_sha256": text}
        for url, index, text in stored
    )  # fmt: skip


@pytest.mark.parametrize("other", ["/a#intro", "/A"])
def test_two_addresses_with_the_same_chunk_are_variants_of_one_page(other: str) -> None:
    subjects = spelled(chunks(("/a", 0, "x"), ("/a", 1, "y"), (other, 0, "x")))
    assert {subject.name: subject.details["others"] for subject in subjects} == {
        f"{SITE}/a": [f"{SITE}{other}"],
        f"{SITE}{other}": [f"{SITE}/a"],
    }


@pytest.mark.parametrize("other", ["/a#intro", "/A"])
def test_another_chunk_or_the_same_text_in_another_place_is_no_second_spelling(other: str) -> None:
    assert spelled(chunks(("/a", 0, "x"), (other, 0, "y"), (other, 1, "x"))) == []


def test_what_a_page_says_twice_makes_no_spellings_of_the_places_where_it_says_so() -> None:
    assert spelled(chunks(("/a#one", None, "x"), ("/a#two", None, "x"))) == []


def test_without_positions_an_address_with_all_texts_of_another_is_a_second_spelling() -> None:
    whole = [(address, None, text) for address in ("/a", "/a#one", "/a#two") for text in "xyz"]
    assert [subject.name for subject in spelled(chunks(*whole))] == [f"{SITE}/a", f"{SITE}/a#one", f"{SITE}/a#two"]
    # Sections that share a text, and a section of a single text that another has, too.
    assert spelled(chunks(*[("/a#one", None, text) for text in "xy"], *[("/a#two", None, text) for text in "yz"])) == []
    assert spelled(chunks(*[("/a#one", None, text) for text in "xy"], ("/a#two", None, "x"))) == []


def test_only_the_fragments_that_repeat_a_chunk_are_named() -> None:
    stored = chunks(("/a", 0, "x"), ("/a#one", 1, "y"), ("/a#two", 2, "z"), ("/a#2", 2, "z"))
    assert sorted(subject.name for subject in spelled(stored)) == [f"{SITE}/a#2", f"{SITE}/a#two"]


def test_a_page_in_another_case_is_no_orphan_of_its_own() -> None:
    stored = chunks(("/a", 0, "x"), ("/A", 0, "x"))
    measured = measure_coverage(site("/a"), stored, points=2, now=NOW).findings
    findings = {entry.code: entry for entry in explain(measured, Site())}
    assert findings["coverage.orphan_page"].because == "coverage.url_variant"


def test_a_page_out_of_scope_under_two_addresses_is_still_an_orphan() -> None:
    inventory = site("/a")
    measured = measure_coverage(inventory, index(inventory, "/a", "/old", "/old/"), points=3, now=NOW).findings
    findings = {entry.code: entry for entry in explain(measured, Site())}
    assert findings["coverage.url_variant"].count == 2
    assert findings["coverage.orphan_page"].because is None


def test_details_count_the_points_of_each_spelling_and_name_the_others() -> None:
    inventory = site("/a")
    subjects = spelled(index(inventory, "/a", "/a/", "/a"))
    assert {subject.name: subject.details for subject in subjects} == {
        f"{SITE}/a": {"points": 2, "others": [f"{SITE}/a/"]},
        f"{SITE}/a/": {"points": 1, "others": [f"{SITE}/a"]},
    }


def test_a_page_that_is_stored_by_its_fragments_is_named_without_one() -> None:
    inventory = site("/a")
    [page] = index(inventory, "/a#one", "/a#two", "/a#two", "/a").values()
    assert page.spelling == f"{SITE}/a"


@pytest.mark.parametrize(
    ("addresses", "differ"),
    [
        (("https://d.io/a?utm_source=x", "https://d.io/a"), ["tracking parameters"]),
        (("http://www.d.io/a/", "https://d.io/a"), ["a trailing slash", "http and https", "www"]),
        (("https://d.io/a/index.html", "https://d.io/a"), [".html or index.html"]),
        (("https://d.io/A%20b", "https://d.io/a%20b"), ["the case of letters or their encoding"]),
        (("https://d.io/old", "https://d.io/new"), ["the path, such as an address that redirects"]),
        (("https://d.io/gr%25C3%25B6", "https://d.io/gr%C3%B6"), ["an encoding that was applied twice"]),
        (("/a", "https://d.io/a"), ["whether they name the host"]),
        (("/a", "https://d.io/a", "http://d.io/a"), ["whether they name the host", "http and https"]),
    ],
)
def test_the_cause_says_in_what_the_addresses_of_a_page_differ(addresses: tuple[str, str], differ: list[str]) -> None:
    assert in_what_they_differ([addresses]) == differ
