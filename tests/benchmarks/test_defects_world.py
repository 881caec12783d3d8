"""The generated handbook is fit to be a clean corpus; its whole validation is run by ``benchmarks/defects``."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmarks.defects.world.html import build_site
from benchmarks.defects.world.pages import Page, handbook
from ragval_pipeline.demo.ingest import payloads_of
from ragval_pipeline.testing.defects.store import Site


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return handbook()


@pytest.fixture(scope="module")
def site(pages: list[Page]) -> Site:
    return build_site(pages)


@pytest.fixture(scope="module")
def payloads(pages: list[Page], site: Site) -> list[dict[str, object]]:
    return [payload for page in pages for payload in payloads_of(page.url, site.html(page.url))]


def test_it_has_the_size_and_the_variety_that_it_is_for(pages: list[Page], payloads: list[dict[str, object]]):
    text = "\n".join(page.markdown for page in pages)
    assert 240 <= len(pages) <= 280
    assert 1800 <= len(payloads) <= 2300
    assert len({page.lang for page in pages}) >= 10
    assert len({page.module for page in pages}) >= 10
    for mark in ("```python", "```sql", "```yaml", "|---|", "\n1. ", "\n### "):
        assert text.count(mark) > 20, mark
    assert min(len(page.markdown.split()) for page in pages if page.module == "glossary") < 100


def test_titles_headings_and_texts_are_unique(pages: list[Page], payloads: list[dict[str, object]]):
    headings = Counter(line for page in pages for line in page.markdown.split("\n") if re.match("#+ ", line))
    assert [line for line, count in headings.items() if count > 1] == []
    assert len({payload["chunk_text"] for payload in payloads}) == len(payloads)
    assert len({page.lastmod for page in pages}) == len(pages)


def test_no_run_of_words_comes_back_on_many_pages(pages: list[Page]):
    found: Counter[tuple[str, ...]] = Counter()
    for page in pages:
        words = re.findall(r"\w+", page.markdown.lower())
        found.update(set(zip(words, words[1:], words[2:], words[3:], words[4:], words[5:], strict=False)))
    assert found.most_common(1)[0][1] <= 0.1 * len(pages)
