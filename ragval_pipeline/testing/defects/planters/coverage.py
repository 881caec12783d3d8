"""Defects of coverage: pages without chunks, chunks without a page, pages that changed meanwhile."""

from __future__ import annotations

import datetime as dt
import random
from urllib.parse import urlsplit

from ragval_pipeline.testing.defects.choose import choose_pages
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect


@defect("coverage.missing_page", kind="points", describe="Deletes every point of a page.")
def missing_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = set(choose_pages(corpus, amount, rng))
    corpus.points = [point for point in corpus.points if corpus.get(point, "source_url") not in pages]
    return Planted("coverage.missing_page", frozenset(pages))


@defect("coverage.orphan_page", kind="site", describe="Takes an indexed page out of the sitemap.")
def unlisted_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, leave_modules=True)
    corpus.site.remove_entries(pages)
    return Planted("coverage.orphan_page", frozenset(pages))


@defect(
    "coverage.orphan_page", kind="site", variant="excluded", describe="Shuts an indexed page out by source.exclude."
)
def excluded_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, leave_modules=True)
    source = corpus.settings["source"]
    source["exclude"] = [*source.get("exclude", ()), *(urlsplit(url).path for url in pages)]
    return Planted("coverage.orphan_page", frozenset(pages))


@defect("coverage.stale_page", kind="site", describe="Moves a page's lastmod on to a minute after it was embedded.")
def stale_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng)
    indexed = corpus.pages()
    dates = {}
    for number, url in enumerate(pages):
        newest = max(dt.datetime.fromisoformat(str(corpus.get(point, "embedded_at"))) for point in indexed[url])
        # A few seconds apart: the same date on all pages would be no date.
        dates[url] = f"{newest + dt.timedelta(seconds=60 + number % 60):%Y-%m-%dT%H:%M:%SZ}"
    corpus.site.set_lastmod(dates)
    return Planted("coverage.stale_page", frozenset(pages))
