"""Defects of test queries: missing targets, expectations that are too weak or that the index does not meet."""

from __future__ import annotations

import random
import re
from typing import Any

from ragval_pipeline.demo.workspace import SITE
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.testing.defects.choose import choose_queries, top_k_of
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ONE, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import StoredPoint

#: A file next to the pages that no page links to.
_QRELS = "judgements.qrels"


@defect("query.dead_target", kind="queries")
def misspelt_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Misspells the page that a query expects."""

    def misspell(query: dict[str, Any]) -> None:
        query["relevant_urls"] = [f"{query['relevant_urls'][0]}-old"]
        query.pop("acceptable_urls", None)

    return _dead(corpus, amount, rng, misspell, needs="relevant_urls")


@defect("query.dead_target", kind="queries", variant="module")
def lost_module(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a query expect a module that does not exist."""

    def rename(query: dict[str, Any]) -> None:
        query["expected_module"] = f"{query['expected_module']} Archive"

    return _dead(corpus, amount, rng, rename, needs="expected_module")


def _dead(corpus: Corpus, amount: Amount, rng: random.Random, spoil: Any, *, needs: str) -> Planted:
    chosen = choose_queries(
        corpus, amount, rng, suits=lambda query: not query.get("negative") and bool(query.get(needs))
    )
    for query in chosen:
        spoil(query)
    ids = frozenset(str(query["id"]) for query in chosen)
    return Planted("query.dead_target", ids)


@defect("query.unmatched_judgements", kind="queries")
def topics_of_another_file(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Adds qrels that also judge unknown topics."""
    (query,) = choose_queries(corpus, ONE, rng, suits=lambda query: bool(query.get("relevant_urls")))
    lost, page = [f"archive-{number}" for number in range(3)], query["relevant_urls"][0]
    lines = [f"{name} 0 {page} 2\n" for name in (*lost, query["id"])]
    corpus.site.files[_QRELS] = "".join(lines)
    corpus.settings["queries"] = {"file": corpus.settings["queries"], "ground_truth": f"{SITE}/{_QRELS}"}
    return Planted("query.unmatched_judgements", frozenset(lost))


@defect("query.weak_oracle", kind="queries")
def weak_oracle(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a query expect a word that most chunks have."""
    chosen = choose_queries(
        corpus, amount, rng, suits=lambda query: not query.get("negative") and bool(query.get("expected_keywords"))
    )
    for query in chosen:
        for condition in ("relevant_urls", "acceptable_urls", "expected_module", "expected_chapter"):
            query.pop(condition, None)
        query["expected_keywords"] = ["the"]
    return Planted("query.weak_oracle", frozenset(str(query["id"]) for query in chosen))


@defect("query.duplicate", kind="queries")
def copied_query(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Copies a query under another id."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: not query.get("negative"))
    for query in chosen:
        corpus.queries.append({**query, "id": f"{query['id']}-again", "query_text": f" {query['query_text']}"})
    ids = {str(query["id"]) for query in chosen}
    return Planted("query.duplicate", frozenset(ids | {f"{name}-again" for name in ids}))


@defect("query.unreachable_gate", kind="queries")
def unreachable_gate(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Requires a precision that the ground truth does not allow."""
    corpus.settings.setdefault("criteria", {})["precision_at_5"] = {"threshold": 0.95, "required": False}
    return Planted("query.unreachable_gate", frozenset({"precision_at_5"}))


@defect("query.threshold_unfit", kind="queries")
def threshold_of_another_model(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Also judges every query by its score, at 0.90, far above the scores of right answers."""
    retrieval = corpus.settings.setdefault("retrieval", {})
    retrieval.update(min_similarity=0.9, judge=["score", "module", "chapter", "url", "keywords", "results"])
    return Planted("query.threshold_unfit", frozenset({"0.9"}))


@defect("query.no_coverage", kind="queries")
def unasked_module(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Drops every query about a module."""
    modules = sorted({str(query["expected_module"]) for query in corpus.queries if query.get("expected_module")})
    if not modules:
        raise NothingToSpoilError("no query names the module that it is about")
    chosen = rng.choice(modules)
    folder = next(
        url.partition("/docs/")[2].split("/")[0]
        for url in corpus.scope_urls
        if any(corpus.get(point, "module") == chosen for point in corpus.pages().get(url, ()))
    )
    about = f"/docs/{folder}"
    corpus.queries[:] = [
        query
        for query in corpus.queries
        if query.get("expected_module") != chosen
        and not any(about in url for url in (*query.get("relevant_urls", ()), *query.get("acceptable_urls", ())))
    ]
    return Planted("query.no_coverage", frozenset({folder}))


#: Hits that must not meet the new expectation, as a multiple of top_k, so that no tie decides.
_NEAR = 2
_WORD = re.compile(r"[A-Za-z]{6,}")


@defect("query.failed", kind="queries")
def other_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a query expect a page that does not answer it."""

    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        found = {corpus.get(point, "source_url") for point in near}
        urls = {corpus.get(point, "source_url") for point in far}
        query.pop("acceptable_urls", None)
        query["relevant_urls"] = [rng.choice(sorted(urls - found))]

    return _fail(corpus, amount, rng, expect, needs="relevant_urls")


@defect("query.failed", kind="queries", variant="keyword")
def other_keyword(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a query expect a word of another page's text."""

    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        answered = {word.lower() for point in near for word in _WORD.findall(corpus.text(point))}
        words = {word for point in far for word in _WORD.findall(corpus.text(point))}
        query["expected_keywords"] = [rng.choice(sorted(word for word in words if word.lower() not in answered))]

    return _fail(corpus, amount, rng, expect, needs="expected_keywords")


@defect("query.failed", kind="queries", variant="module")
def other_module(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a query expect another module of the site."""
    return _fail(corpus, amount, rng, _other_name(corpus, rng, "module"), needs="expected_module")


@defect("query.failed", kind="queries", variant="chapter")
def other_chapter(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a query expect another chapter of the site."""
    return _fail(corpus, amount, rng, _other_name(corpus, rng, "chapter"), needs="expected_chapter")


# For many queries it would be a threshold that does not fit the embedder.
@defect("query.failed", kind="queries", variant="score", amounts=(ONE,))
def high_bar(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a query require a similarity of 0.98."""

    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        query["min_similarity"] = 0.98

    return _fail(corpus, amount, rng, expect, needs="query_text")


@defect("query.negative_scored_high", kind="queries")
def answered_negative(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Replaces a negative query by a question that the site answers."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: bool(query.get("negative")))
    points = rng.sample([point for point in corpus.points if corpus.headings(point)], len(chosen))
    for query, point in zip(chosen, points, strict=True):
        headings = corpus.headings(point)
        query["query_text"] = f"What should I know about {headings[-1]} in {headings[0]}?"
    ids = frozenset(str(query["id"]) for query in chosen)
    return Planted("query.negative_scored_high", ids, causes=frozenset({"query.threshold_unfit"}))


def _fail(corpus: Corpus, amount: Amount, rng: random.Random, expect: Any, *, needs: str) -> Planted:
    """Give positive queries that state ``needs`` an expectation that only hits far down the ranking meet."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: not query.get("negative") and needs in query)
    for query, ranking in zip(chosen, corpus.search([query["query_text"] for query in chosen]), strict=True):
        points, near = [point for _, point in ranking], _NEAR * top_k_of(corpus, query)
        expect(query, points[:near], points[near:])
    return Planted("query.failed", frozenset(str(query["id"]) for query in chosen))


def _other_name(corpus: Corpus, rng: random.Random, name: str) -> Any:
    def expect(query: dict[str, Any], near: list[StoredPoint], far: list[StoredPoint]) -> None:
        found = {corpus.get(point, name) for point in near}
        query[f"expected_{name}"] = rng.choice(sorted({corpus.get(point, name) for point in far} - found))

    return expect
