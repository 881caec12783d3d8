"""Defects of site and addresses: pages without chunks, chunks without a page, other hosts, broken sitemaps."""

from __future__ import annotations

import datetime as dt
import random
from urllib.parse import urlsplit, urlunsplit

from ragval_pipeline.testing.defects.choose import add_copies, choose_pages
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ALL, HALF, ONE, TENTH, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import SITEMAP_FILE, Entry


@defect("coverage.missing_page", kind="points")
def missing_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Deletes every point of a page."""
    pages = set(choose_pages(corpus, amount, rng))
    corpus.points = [point for point in corpus.points if corpus.get(point, "source_url") not in pages]
    return Planted("coverage.missing_page", frozenset(pages))


@defect("coverage.orphan_page", kind="site")
def unlisted_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Takes an indexed page out of the sitemap."""
    pages = choose_pages(corpus, amount, rng, leave_modules=True)
    corpus.site.remove_entries(pages)
    return Planted("coverage.orphan_page", frozenset(pages))


@defect("coverage.orphan_page", kind="site", variant="excluded")
def excluded_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Excludes an indexed page by source.exclude."""
    pages = choose_pages(corpus, amount, rng, leave_modules=True)
    source = corpus.settings["source"]
    source["exclude"] = [*source.get("exclude", ()), *(urlsplit(url).path for url in pages)]
    return Planted("coverage.orphan_page", frozenset(pages))


@defect("coverage.stale_page", kind="site")
def stale_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Sets a page's lastmod to a minute after it was embedded."""
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


@defect("coverage.foreign_host", kind="points", amounts=(ONE, TENTH, HALF, ALL))
def foreign_host(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Rewrites the host of pages, as after an ingestion from a preview deployment."""
    _move(corpus, choose_pages(corpus, amount, rng), f"https://{OTHER_HOST}")
    return Planted("coverage.foreign_host", frozenset({OTHER_HOST}))


@defect("coverage.loopback_host", kind="points", amounts=(ONE, TENTH, HALF, ALL))
def loopback_host(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Rewrites the host of pages to localhost, as after an ingestion from a development server."""
    moved = _move(corpus, choose_pages(corpus, amount, rng), DEVELOPMENT_SERVER)
    return Planted("coverage.loopback_host", moved)


@defect("coverage.loopback_host", kind="points", variant="file", amounts=(ONE, TENTH, HALF, ALL))
def file_address(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores pages under file: addresses, as an ingestion of the build folder does."""
    moved = _move(corpus, choose_pages(corpus, amount, rng), "file:///srv/book")
    return Planted("coverage.loopback_host", moved)


@defect("coverage.url_variant", kind="points")
def ingested_twice(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Ingests a page again under a variant of its URL, with or without the trailing slash."""
    pages = choose_pages(corpus, amount, rng)
    indexed = corpus.pages()
    for url in pages:
        add_copies(corpus, indexed[url], salt="slash", source_url=_respelt(url))
    return Planted("coverage.url_variant", frozenset(spelling for url in pages for spelling in (url, _respelt(url))))


@defect("coverage.url_variant", kind="points", variant="mixed")
def two_spellings(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores some chunks of a page under a variant of its URL."""
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


@defect("source.unreachable", kind="site")
def wrong_port(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Points the suite to a sitemap at a closed port."""
    corpus.settings["source"]["sitemap"] = f"http://127.0.0.1:{CLOSED_PORT}/{SITEMAP_FILE}"
    corpus.settings["retry"] = {"max": 1, "delay_s": 0.05}
    return Planted("source.unreachable", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site")
def cut_in_half(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Cuts sitemap.xml in half."""
    text = corpus.site.files[SITEMAP_FILE]
    corpus.site.files[SITEMAP_FILE] = text[: len(text) // 2]
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", variant="doctype")
def doctype(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Adds a DOCTYPE with an entity to sitemap.xml."""
    declaration, _, rest = corpus.site.files[SITEMAP_FILE].partition("\n")
    bomb = '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    corpus.site.files[SITEMAP_FILE] = f"{declaration}\n{bomb}\n{rest}"
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", variant="html")
def html_instead(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Replaces sitemap.xml by the site's home page."""
    corpus.site.files[SITEMAP_FILE] = corpus.site.html(corpus.scope_urls[0])
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.empty", kind="site")
def nothing_included(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Sets source.include to a pattern that matches no page."""
    corpus.settings["source"]["include"] = ["/handbook/**"]
    return Planted("source.empty", frozenset({corpus.sitemap_location}))


@defect("source.empty", kind="site", variant="no-urls")
def no_entries(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Removes every entry from sitemap.xml."""
    corpus.site.set_entries(())
    return Planted("source.empty", frozenset({corpus.sitemap_location}))


@defect("source.scope", kind="site")
def left_out(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Lists a folder of pages that source.exclude leaves out."""
    first = urlsplit(corpus.scope_urls[0])
    urls = [urlunsplit((first.scheme, first.netloc, f"/left-out/{name}", "", "")) for name in ("one", "two")]
    corpus.site.set_entries((*corpus.site.entries, *(Entry(url, None) for url in urls)))
    source = corpus.settings["source"]
    source["exclude"] = [*source.get("exclude", ()), "/left-out/**"]
    return Planted("source.scope", frozenset({"/left-out/**"}))


@defect("source.suspicious_lastmod", kind="site")
def stamped(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives every page of the sitemap the same lastmod."""
    oldest = min((entry.lastmod for entry in corpus.site.entries if entry.lastmod), default="2000-01-01")
    corpus.site.set_lastmod({entry.url: oldest for entry in corpus.site.entries})
    return Planted("source.suspicious_lastmod", frozenset({corpus.sitemap_location}))


@defect("source.suspicious_lastmod", kind="site", variant="future", amounts=(ALL,))
def in_the_future(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Moves every lastmod of the sitemap into the future."""
    today = dt.datetime.now(dt.UTC).date()
    dates = {
        entry.url: (today + dt.timedelta(days=366 + number)).isoformat()
        for number, entry in enumerate(corpus.site.entries)
    }
    corpus.site.set_lastmod(dates)
    return Planted("source.suspicious_lastmod", frozenset({corpus.sitemap_location}))
