"""Paths without a host are pages of the site where they name exactly one."""

from __future__ import annotations

import pytest

from ragval_pipeline.sources.site.inventory import SitemapEntry, SitemapListing, take_inventory

BASE = "https://docs.example.com"
PAGES = (
    "/", "/docs/", "/docs/intro", "/docs/guide/setup", "/docs/api/setup", "/docs/api/keys.html", "/fr/docs/intro",
    "/docs/r%C3%A9sum%C3%A9", "/blog/2024/news/",
)  # fmt: skip


def key(text: str, *pages: str) -> str:
    entries = tuple(SitemapEntry(f"{BASE}{page}", None, "sitemap") for page in pages or PAGES)
    listing = SitemapListing(entries, ("sitemap",), "sitemap")
    return take_inventory(listing, include=(), exclude=(), host_aliases=()).folder().key(text)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("/docs/intro", "/docs/intro"),
        ("docs/intro", "/docs/intro"),
        ("/docs/intro/", "/docs/intro"),
        ("/docs/intro#install", "/docs/intro"),
        ("docs/intro.md", "/docs/intro"),
        ("./docs/intro.mdx", "/docs/intro"),
        ("docs\\guide\\setup.md", "/docs/guide/setup"),
        ("guide/setup", "/docs/guide/setup"),
        ("keys", "/docs/api/keys"),
        ("keys.html", "/docs/api/keys"),
        ("content/docs/guide/setup.md", "/docs/guide/setup"),
        ("docs/index.md", "/docs"),
        ("docs/README.md", "/docs"),
        ("index.md", "/"),
        ("/", "/"),
        ("docs/résumé", "/docs/r%C3%A9sum%C3%A9"),
        ("news", "/blog/2024/news"),
    ],
)
def test_a_path_is_the_page_that_it_names(text: str, page: str) -> None:
    assert key(text) == key(f"{BASE}{page}")


@pytest.mark.parametrize(
    "text",
    [
        "setup", "intro.md5", "docs/nowhere", "17", "content/intro", "other/docs/intro", "blog/setup.md", "", "  ",
        "file:///srv/docs/intro", "s3://bucket/docs/intro.md", "Getting started", "a\nb",
    ],
)  # fmt: skip
def test_any_other_text_is_an_opaque_id(text: str) -> None:
    assert key(text) == text


def test_a_path_at_the_site_wins_over_a_longer_one_that_ends_with_it() -> None:
    assert key("intro", "/intro", "/docs/intro") == key(f"{BASE}/intro")
    assert key("intro", "/a/intro", "/docs/intro") == "intro"
