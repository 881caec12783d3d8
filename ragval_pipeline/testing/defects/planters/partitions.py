"""Partitions of an index, such as tenants: points without one, pages in another one, no index for them."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.testing.defects.choose import choose_pages, choose_points, ids_of
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.planters.serving import pretend
from ragval_pipeline.testing.defects.registry import ONE, TENTH, Amount, Planted, defect
from ragval_pipeline.validation.thresholds import FEWEST

_FIELD = "tenant"


@defect("partition.untagged", kind="points")
def untagged(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives every point a tenant but some."""
    _tag(corpus)
    points = choose_points(corpus, amount, rng)
    for point in points:
        point.payload.pop(_FIELD)
    return Planted("partition.untagged", ids_of(points))


@defect("partition.leak", kind="points", amounts=(ONE, TENTH))
def retagged_chunk(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores a chunk of one tenant's page as another one's."""
    tenants = _tag(corpus)
    pages = choose_pages(corpus, amount, rng, min_chunks=3)
    points = [rng.choice(corpus.pages()[url]) for url in pages]
    for point in points:
        point.payload[_FIELD] = next(name for name in tenants if name != point.payload[_FIELD])
    return Planted("partition.leak", ids_of(points))


@defect("partition.leak", kind="points", variant="page", amounts=(ONE, TENTH))
def retagged_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores a page of one tenant, whose address names it, as another one's."""
    tenants = _tag(corpus)
    pages = choose_pages(corpus, amount, rng, suits=_told_apart(corpus, rng).__contains__)
    points = [point for url in pages for point in corpus.pages()[url]]
    for point in points:
        point.payload[_FIELD] = next(name for name in tenants if name != point.payload[_FIELD])
    return Planted("partition.leak", ids_of(points))


@defect("index.no_tenant_index", kind="service")
def no_tenant_index(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives the points tenants, and the server a payload index that is not for tenants."""
    _tag(corpus)
    pretend(corpus, payload_indexes={_FIELD: "keyword"}, tenant_indexes=())
    return Planted("index.no_tenant_index", frozenset({_FIELD}))


def _tag(corpus: Corpus) -> list[str]:
    """Give every point the folder of its page as its tenant; the tenants with several pages."""
    counts: dict[str, int] = {}
    for url, points in corpus.pages().items():
        tenant = _folder(url)
        counts[tenant] = counts.get(tenant, 0) + 1
        for point in points:
            point.payload[_FIELD] = tenant
    settings: dict[str, Any] = corpus.settings["qdrant"]
    settings["partition_by"] = _FIELD
    return sorted(name for name, count in counts.items() if count >= FEWEST)


def _folder(url: str) -> str:
    return urlsplit(url).path.strip("/").rpartition("/")[0].rpartition("/")[2] or "start"


def _told_apart(corpus: Corpus, rng: random.Random) -> set[str]:
    """A minority of the pages of each folder of several pages: it still belongs to the tenant that it names."""
    folders: dict[str, list[str]] = {}
    for url in corpus.pages():
        folders.setdefault(_folder(url), []).append(url)
    large = [urls for name, urls in folders.items() if len(urls) >= FEWEST and name != "start"]
    return {url for urls in large for url in rng.sample(urls, (len(urls) - 1) // 2)}
