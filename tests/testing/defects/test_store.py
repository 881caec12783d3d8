from __future__ import annotations

import pytest

from ragval_pipeline.sources.site.html.page_text import page_texts
from ragval_pipeline.testing.defects.store import Entry, Site

SITE = "https://book.example"


@pytest.fixture
def site() -> Site:
    site = Site({"docs/a/index.html": "<h1>A</h1>"})
    site.set_entries([Entry(f"{SITE}/docs/a", "2024-05-01"), Entry(f"{SITE}/docs/b?x=1&y=2", None)])
    return site


def test_entries_come_back_as_they_were_written_with_markup_in_addresses(site: Site):
    assert site.entries == [Entry(f"{SITE}/docs/a", "2024-05-01"), Entry(f"{SITE}/docs/b?x=1&y=2", None)]


def test_a_lastmod_can_be_changed_without_touching_the_others(site: Site):
    site.set_lastmod({f"{SITE}/docs/b?x=1&y=2": "2025-01-01T00:00:00Z"})
    assert [entry.lastmod for entry in site.entries] == ["2024-05-01", "2025-01-01T00:00:00Z"]


def test_the_html_of_a_page_is_found_by_its_address_and_can_be_replaced(site: Site):
    site.set_html(f"{SITE}/docs/a", "<h1>B</h1>")
    assert site.files["docs/a/index.html"] == "<h1>B</h1>"


def test_appended_html_is_at_the_end_of_the_content_in_any_element(site: Site):
    page = '<body><div role="main"><h1>A</h1><p>Words.</p></div><footer>f</footer></body>'
    site.set_html(f"{SITE}/docs/a", page)
    site.append(f"{SITE}/docs/a", "<p>More &amp; more.</p>")
    assert [block.text for block in page_texts(site.html(f"{SITE}/docs/a")).blocks] == ["A", "Words.", "More & more."]
