"""Defects of addresses: pages stored under another host, a private one, or a second spelling."""

from __future__ import annotations

import random
from urllib.parse import urlsplit, urlunsplit

from ragval_pipeline.testing.defects.choose import choose_pages
from ragval_pipeline.testing.defects.copies import add_copies
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ALL, HALF, ONE, TENTH, Amount, Planted, defect

#: RFC 2606 reserves ``.example``.
OTHER_HOST = "preview.physical-ai-book-mirror.example"
DEVELOPMENT_SERVER = "http://localhost:3000"


@defect(
    "coverage.foreign_host",
    kind="points",
    describe="Rewrites the host of pages, as an ingestion from a preview deployment stores them.",
    amounts=(ONE, TENTH, HALF, ALL),
)
def foreign_host(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    _move(corpus, choose_pages(corpus, amount, rng), f"https://{OTHER_HOST}")
    return Planted("coverage.foreign_host", frozenset({OTHER_HOST}))


@defect(
    "coverage.loopback_host",
    kind="points",
    describe="Rewrites the host of pages to localhost, as an ingestion from a development server stores them.",
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
    describe="Ingests a page again under another spelling of its address, with or without the slash at its end.",
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
    describe="Stores some chunks of a page under another spelling of its address.",
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
    """The same page: without the slash or ``.html`` at the end, or with a slash."""
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
