"""Defects visible only against an earlier run: a lost query, pages that rank lower, a replaced corpus.

The suite names its last run as the baseline, so a clean run must come first (``Defect.needs_baseline``).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ragval_pipeline.testing.defects.choose import choose_queries, query_keys, rewrite
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ALL, Amount, Planted, defect
from ragval_pipeline.testing.services import Service, SpoilingReader

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.protocol import Hit

#: A word in most chunks, and its replacement in chunks and pages alike: nothing else is wrong then.
_COMMON, _INSTEAD = re.compile(r"\bthe\b"), "this"

Spoil: TypeAlias = "Callable[[list[Hit]], list[Hit]]"


@defect("regression.query_lost", kind="service")
def query_lost(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """After a clean run, makes the server return no hits for one query."""
    chosen = _spoil(corpus, amount, rng, _nothing, critical=False)
    return Planted("regression.query_lost", frozenset(chosen), causes=frozenset({"query.failed"}))


@defect("regression.query_lost", kind="service", variant="critical")
def critical_query_lost(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """After a clean run, makes the server return no hits for one critical query."""
    chosen = _spoil(corpus, amount, rng, _nothing, critical=True)
    return Planted("regression.query_lost", frozenset(chosen), causes=frozenset({"query.failed"}))


@defect("regression.query_lost", kind="queries", variant="vanished")
def query_vanished(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """After a clean run, removes a passed query from the query file."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: _is_ordinary(query, critical=False))
    corpus.queries = [query for query in corpus.queries if query not in chosen]
    _against_last_run(corpus)
    return Planted("regression.query_lost", frozenset(str(query["id"]) for query in chosen))


@defect("regression.significant_drop", kind="service")
def significant_drop(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """After a clean run, makes the server return the best hits of every query in reverse."""
    # The same hits within top_k: every query passes as before, and its pages rank lower.
    retrieval = corpus.settings.get("retrieval", {})
    first = int(retrieval.get("top_k", 5))
    _spoil(corpus, ALL, rng, lambda hits: _turned_round(hits, first), critical=False)
    metric = f"ndcg_at_{max(retrieval.get('k', (3, 5)))}"
    return Planted("regression.significant_drop", frozenset({metric}), scope=metric)


@defect("regression.corpus_turnover", kind="site")
def corpus_turnover(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """After a clean run, changes a common word in all pages and chunks, as when a site is rewritten."""
    for url in corpus.scope_urls:
        corpus.site.set_html(url, _reworded(corpus.site.html(url)))
    changes = [(point, corpus.text(point)) for point in corpus.points]
    rewrite(corpus, [(point, new) for point, text in changes if (new := _reworded(text)) != text])
    told = [name for name in ("title", "headings") if corpus.holds(name)]
    for point in corpus.points:
        for name in told:
            if corpus.get(point, name) is not None:
                corpus.put(point, name, _reworded_all(corpus.get(point, name)))
    _against_last_run(corpus)
    return Planted("regression.corpus_turnover", frozenset({corpus.collection}))


def _spoil(corpus: Corpus, amount: Amount, rng: random.Random, spoil: Spoil, *, critical: bool) -> list[str]:
    """Make the server spoil the hits of some queries; their ids."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: _is_ordinary(query, critical=critical))
    keys = query_keys(corpus, chosen)
    corpus.services.append(Service(reader=lambda inner: SpoilingReader(inner, keys, spoil)))
    _against_last_run(corpus)
    return [str(query["id"]) for query in chosen]


def _nothing(hits: list[Hit]) -> list[Hit]:
    return []


def _turned_round(hits: list[Hit], first: int) -> list[Hit]:
    """The first hits in reverse, with the scores of their new ranks."""
    turned = [*reversed(hits[:first]), *hits[first:]]
    return [replace(hit, rank=place.rank, score=place.score) for hit, place in zip(turned, hits, strict=True)]


def _is_ordinary(query: dict[str, Any], *, critical: bool) -> bool:
    return not query.get("negative") and (query.get("critical") is True) == critical


def _against_last_run(corpus: Corpus) -> None:
    corpus.settings["history"] = {**corpus.settings.get("history", {}), "baseline": "last"}


def _reworded(text: str) -> str:
    return _COMMON.sub(_INSTEAD, text)


def _reworded_all(value: str | Sequence[str]) -> str | list[str]:
    return _reworded(value) if isinstance(value, str) else [_reworded(entry) for entry in value]
