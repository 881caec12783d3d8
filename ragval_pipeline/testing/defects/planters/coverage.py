"""Defects of site and addresses: pages without chunks, chunks without a page, other hosts, broken sitemaps."""

from __future__ import annotations

import datetime as dt
import random
from urllib.parse import urlsplit, urlunsplit

from ragval_pipeline.testing.defects.choose import add_copies, choose_pages
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ALL, HALF, ONE, TENTH, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import SITEMAP_FILE


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


@defect("coverage.orphan_page", kind="site", variant="excluded", describe="Excludes an indexed page by source.exclude.")
def excluded_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, leave_modules=True)
    source = corpus.settings["source"]
    source["exclude"] = [*source.get("exclude", ()), *(urlsplit(url).path for url in pages)]
    return Planted("coverage.orphan_page", frozenset(pages))


@defect("coverage.stale_page", kind="site", describe="Sets a page's lastmod to a minute after it was embedded.")
def stale_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng)
    indexed = corpus.pages()
    dates = {}
    for number, url in enumerate(pages):
        newest = max(dt.datetime.fromisoformat(str(corpus.get(point, "embedded_at"))) for point in indexed[url])
        # A few seconds apart: the same date on all pages would be suspicious.
        dates[url] = f"{newest + dt.timedelta(seconds=60 + number % 60):%Y-%m-%dT%H:%M:%SZ}"
    corpus.site.set_lastmod(dates)
    return Planted("coverage.stale_page", frozenset(pages))


#: RFC 2606 reserves ``.example``.
OTHER_HOST = "preview.physical-ai-book-mirror.example"
DEVELOPMENT_SERVER = "http://localhost:3000"


@defect(
    "coverage.foreign_host",
    kind="points",
    describe="Rewrites the host of pages, as after an ingestion from a preview deployment.",
    amounts=(ONE, TENTH, HALF, ALL),
)
def foreign_host(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    _move(corpus, choose_pages(corpus, amount, rng), f"https://{OTHER_HOST}")
    return Planted("coverage.foreign_host", frozenset({OTHER_HOST}))


@defect(
    "coverage.loopback_host",
    kind="points",
    describe="Rewrites the host of pages to localhost, as after an ingestion from a development server.",
    amounts=(ONE, TENTH, HALF, ALL),
)
def loopback_host(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    moved = _move(corpus, choose_pages(corpus, amount, rng), DEVELOPMENT_SERVER)
    return Planted("coverage.loopback_host", moved)


@defect(
    "coverage.loopback_host",
    kind="points",
    variant="file",
    describe="Stores pages under file: addresses, as an ingestion of the build folder does.",
    amounts=(ONE, TENTH, HALF, ALL),
)
def file_address(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    moved = _move(corpus, choose_pages(corpus, amount, rng), "file:///srv/book")
    return Planted("coverage.loopback_host", moved)


@defect(
    "coverage.url_variant",
    kind="points",
    describe="Ingests a page again under a variant of its URL, with or without the trailing slash.",
)
def ingested_twice(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng)
    indexed = corpus.pages()
    for url in pages:
        add_copies(corpus, indexed[url], salt="slash", source_url=_respelt(url))
    return Planted("coverage.url_variant", frozenset(spelling for url in pages for spelling in (url, _respelt(url))))


@defect(
    "coverage.url_variant",
    kind="points",
    variant="mixed",
    describe="Stores some chunks of a page under a variant of its URL.",
)
def two_spellings(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, min_chunks=2)
    indexed = corpus.pages()
    for url in pages:
        points = indexed[url]
        for point in rng.sample(points, max(1, len(points) // 2)):
            corpus.put(point, "source_url", _respelt(url))
    return Planted("coverage.url_variant", frozenset(spelling for url in pages for spelling in (url, _respelt(url))))


def _respelt(url: str) -> str:
    """A variant of the address: without the slash or ``.html`` at the end, or with a slash."""
    return next((url.removesuffix(end) for end in ("/", ".html") if url.endswith(end)), f"{url}/")


def _move(corpus: Corpus, pages: list[str], root: str) -> frozenset[str]:
    """Store pages under another scheme and host; returns their new addresses."""
    scheme, host, *_ = urlsplit(root)
    base = urlsplit(root).path
    indexed = corpus.pages()
    moved = set()
    for url in pages:
        path = base + urlsplit(url).path
        address = f"{scheme}://{host}{path}" if scheme == "file" else urlunsplit((scheme, host, path, "", ""))
        moved.add(address)
        for point in indexed[url]:
            corpus.put(point, "source_url", address)
    return frozenset(moved)


#: Port of the TCP multiplexer (RFC 1078), which is closed on today's machines.
CLOSED_PORT = 1


@defect("source.unreachable", kind="site", describe="Points the suite to a sitemap at a closed port.")
def wrong_port(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.settings["source"]["sitemap"] = f"http://127.0.0.1:{CLOSED_PORT}/{SITEMAP_FILE}"
    corpus.settings["retry"] = {"max": 1, "delay_s": 0.05}
    return Planted("source.unreachable", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", describe="Cuts sitemap.xml in half.")
def cut_in_half(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    text = corpus.site.files[SITEMAP_FILE]
    corpus.site.files[SITEMAP_FILE] = text[: len(text) // 2]
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", variant="doctype", describe="Adds a DOCTYPE with an entity to sitemap.xml.")
def doctype(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    declaration, _, rest = corpus.site.files[SITEMAP_FILE].partition("\n")
    bomb = '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    corpus.site.files[SITEMAP_FILE] = f"{declaration}\n{bomb}\n{rest}"
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", variant="html", describe="Replaces sitemap.xml by the site's home page.")
def html_instead(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.site.files[SITEMAP_FILE] = corpus.site.html(corpus.scope_urls[0])
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.empty", kind="site", describe="Sets source.include to a pattern that matches no page.")
def nothing_included(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.settings["source"]["include"] = ["/handbook/**"]
    return Planted("source.empty", frozenset({corpus.sitemap_location}))


@defect("source.empty", kind="site", variant="no-urls", describe="Removes every entry from sitemap.xml.")
def no_entries(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.site.set_entries(())
    return Planted("source.empty", frozenset({corpus.sitemap_location}))


@defect("source.suspicious_lastmod", kind="site", describe="Gives every page of the sitemap the same lastmod.")
def stamped(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    oldest = min((entry.lastmod for entry in corpus.site.entries if entry.lastmod), default="2000-01-01")
    corpus.site.set_lastmod({entry.url: oldest for entry in corpus.site.entries})
    return Planted("source.suspicious_lastmod", frozenset({corpus.sitemap_location}))


@defect(
    "source.suspicious_lastmod",
    kind="site",
    variant="future",
    describe="Moves every lastmod of the sitemap into the future.",
    amounts=(ALL,),
)
def in_the_future(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    today = dt.datetime.now(dt.UTC).date()
    dates = {
        entry.url: (today + dt.timedelta(days=366 + number)).isoformat()
        for number, entry in enumerate(corpus.site.entries)
    }
    corpus.site.set_lastmod(dates)
    return Planted("source.suspicious_lastmod", frozenset({corpus.sitemap_location}))
