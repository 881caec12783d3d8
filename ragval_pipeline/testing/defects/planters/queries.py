"""Defects of test queries: expectations that the index does not meet, and negatives that it answers."""

from __future__ import annotations

import random
import re
from typing import Any

from ragval_pipeline.testing.defects.choose import choose_queries
from ragval_pipeline.testing.defects.corpus import Corpus, StoredPoint
from ragval_pipeline.testing.defects.registry import ONE, Amount, Planted, defect

#: Hits among which nothing of the new expectation may stand, as a multiple of top_k, so that no tie decides.
_NEAR = 2
_WORD = re.compile(r"[A-Za-z]{6,}")


@defect("query.failed", kind="queries", describe="Makes a query expect a page that does not answer it.")
def other_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        found = {corpus.get(point, "source_url") for point in near}
        urls = {corpus.get(point, "source_url") for point in far}
        query.pop("acceptable_urls", None)
        query["relevant_urls"] = [rng.choice(sorted(urls - found))]

    return _fail(corpus, amount, rng, expect, needs="relevant_urls")


@defect(
    "query.failed", kind="queries", variant="keyword", describe="Makes a query expect a word of another page's text."
)
def other_keyword(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        answered = {word.lower() for point in near for word in _WORD.findall(corpus.text(point))}
        words = {word for point in far for word in _WORD.findall(corpus.text(point))}
        query["expected_keywords"] = [rng.choice(sorted(word for word in words if word.lower() not in answered))]

    return _fail(corpus, amount, rng, expect, needs="expected_keywords")


@defect("query.failed", kind="queries", variant="module", describe="Makes a query expect another module of the site.")
def other_module(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    return _fail(corpus, amount, rng, _other_name(corpus, rng, "module"), needs="expected_module")


@defect("query.failed", kind="queries", variant="chapter", describe="Makes a query expect another chapter of the site.")
def other_chapter(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    return _fail(corpus, amount, rng, _other_name(corpus, rng, "chapter"), needs="expected_chapter")


@defect(
    "query.failed",
    kind="queries",
    variant="score",
    describe="Makes a query ask for a similarity of 0.98.",
    # Asked of many queries, it would be a threshold that does not fit the embedder.
    amounts=(ONE,),
)
def high_bar(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        query["min_similarity"] = 0.98

    return _fail(corpus, amount, rng, expect, needs="query_text")


@defect(
    "query.negative_scored_high",
    kind="queries",
    describe="Replaces a negative query by a question that the site answers.",
)
def answered_negative(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: bool(query.get("negative")))
    points = rng.sample(corpus.points, len(chosen))
    for query, point in zip(chosen, points, strict=True):
        headings = corpus.get(point, "headings")
        query["query_text"] = f"What should I know about {headings[-1]} in {headings[0]}?"
    ids = frozenset(str(query["id"]) for query in chosen)
    return Planted("query.negative_scored_high", ids, causes=frozenset({"query.threshold_unfit"}))


def _fail(corpus: Corpus, amount: Amount, rng: random.Random, expect: Any, *, needs: str) -> Planted:
    """Give positive queries that state ``needs`` an expectation that only hits far down the ranking meet."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: not query.get("negative") and needs in query)
    for query, ranking in zip(chosen, corpus.search([query["query_text"] for query in chosen]), strict=True):
        points, near = [point for _, point in ranking], _NEAR * _top_k(corpus, query)
        expect(query, points[:near], points[near:])
    return Planted("query.failed", frozenset(str(query["id"]) for query in chosen))


def _other_name(corpus: Corpus, rng: random.Random, name: str) -> Any:
    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        found = {corpus.get(point, name) for point in near}
        query[f"expected_{name}"] = rng.choice(sorted({corpus.get(point, name) for point in far} - found))

    return expect


def _top_k(corpus: Corpus, query: dict[str, Any]) -> int:
    return int(query.get("top_k") or corpus.settings.get("retrieval", {}).get("top_k", 5))
