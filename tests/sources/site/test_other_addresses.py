"""Which addresses that pages give are further addresses of a page, and what sites get wrong."""

from __future__ import annotations

import pytest

from ragval_pipeline.sources.site.html.document import canonical_address
from ragval_pipeline.sources.site.page_copies.addresses import of_one_page, other_addresses

HOST = "https://docs.example.com"
PAGE = f"{HOST}/latest/intro"


def named(head: str, body: str = "") -> str | None:
    html = f"<!doctype html><html><head><title>Intro</title>{head}</head><body>{body}<p>Text</p></body></html>"
    return canonical_address(html, base=PAGE)


@pytest.mark.parametrize(
    ("head", "address"),
    [
        (f'<link rel="canonical" href="{HOST}/stable/intro">', f"{HOST}/stable/intro"),
        ("<LINK href=' /stable/intro ' REL=Canonical />", f"{HOST}/stable/intro"),
        ('<base href="/book/"><link rel="canonical" href="intro">', f"{HOST}/book/intro"),
        ('<link rel="canonical alternate" href="intro">', PAGE),
        ('<link rel="alternate" href="/canonical">', None),
        ('<link rel="canonical">', None),
        ('<script>document.write("<link rel=canonical href=/x>")</script>', None),
    ],
)
def test_a_page_names_its_address_in_its_head(head: str, address: str | None) -> None:
    assert named(head) == address


def test_of_several_canonical_links_none_counts_unless_they_are_equal() -> None:
    one, other = '<link rel="canonical" href="/a">', '<link rel="canonical" href="/b">'
    assert named(one + other) is None
    assert named(one + one) == f"{HOST}/a"


def test_a_canonical_link_in_the_body_does_not_count() -> None:
    assert named("", '<link rel="canonical" href="/a">') is None


def key(path: str) -> str:
    return f"{HOST}{path}"


def test_an_unlisted_address_that_one_page_gives_is_its_further_address() -> None:
    given = [(key("/stable/intro"), key("/latest/intro")), (key("/stable/setup"), key("/latest/setup"))]
    assert other_addresses(given, {page for _, page in given}) == dict(given)


@pytest.mark.parametrize(
    "given",
    [
        [(key("/"), key("/intro"))],  # the template's
        [(key("/news"), key("/news/2")), (key("/news"), key("/news/3"))],  # the first of a series
        [(key("/setup"), key("/intro"))],  # listed itself
        [("https://www.example.org/intro", key("/intro"))],
        [(key("/intro"), key("/intro"))],
    ],
    ids=["home page", "several pages", "listed page", "other host", "itself"],
)
def test_what_sites_get_wrong_joins_no_pages(given: list[tuple[str, str]]) -> None:
    assert other_addresses(given, {key("/intro"), key("/setup"), key("/news/2"), key("/news/3")}) == {}


def test_a_page_that_is_stored_under_both_addresses_keeps_them_apart() -> None:
    others = {key("/stable/intro"): key("/latest/intro"), key("/stable/setup"): key("/latest/setup")}
    stored = [key("/latest/intro"), key("/stable/intro"), key("/stable/setup")]
    assert of_one_page(others, stored) == {key("/stable/setup"): key("/latest/setup")}
