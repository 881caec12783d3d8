"""Test queries of the handbook: questions about sections, each of which a sound index answers clearly."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.defects.world.pages import Page
from benchmarks.defects.world.prose import data, sentence
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.store import StoredPoint

PER_MODULE = 7
MIN_SIMILARITY = 0.40
#: How far above the threshold the best hit of a kept question is, and a negative one below it.
_MARGIN = 0.08
_TOP_K = 5
_OF_ONE_PAGE = 3


def queries_for(corpus: Corpus, pages: Sequence[Page]) -> list[dict[str, Any]]:
    """Queries in file order: by module, in other languages, negative."""
    by_module: dict[str, list[Page]] = {}
    for page in pages:
        by_module.setdefault(page.module, []).append(page)
    guides = [members for module, members in by_module.items() if module not in {"translations", "releases"}]
    asked = [query for members in guides for query in _of_module(corpus, members)]
    queries = [*asked, *_foreign(corpus, pages)]
    for number, query in enumerate(queries):
        _enrich(query, number)
    return [*queries, *_negative(corpus)]


def _of_module(corpus: Corpus, pages: Sequence[Page]) -> Iterator[dict[str, Any]]:
    """The first questions, in a seeded order, that the index answers."""
    rng = random.Random(f"queries {pages[0].module}")
    candidates = [query for page in rng.sample(pages, len(pages)) for query in _candidates(page, rng)]
    rankings = corpus.search([query["query_text"] for query in candidates])
    kept: dict[str, dict[str, Any]] = {}
    for query, ranking in zip(candidates, rankings, strict=True):
        if query["id"] not in kept and _is_clear(corpus, query, ranking[:_TOP_K]):
            kept[query["id"]] = query
    wanted = PER_MODULE if len(pages) > PER_MODULE + 5 else 2
    yield from list(kept.values())[:wanted]


def _candidates(page: Page, rng: random.Random) -> Iterator[dict[str, Any]]:
    for terms in _terms_of(page):
        words = {"subject": page.subject, "term": terms[0], "other": terms[1]}
        text = sentence("question", words, rng)
        yield {
            "id": page.path.partition("/")[2],
            "query_text": text,
            "category": "guide",
            "expected_module": " ".join(word.capitalize() for word in page.module.split("-")),
            "relevant_urls": [page.url],
            "expected_chapter": page.path,
            "expected_keywords": [terms[0]],
        }


def _terms_of(page: Page) -> list[tuple[str, str]]:
    return [(term, page.terms[(at + 1) % len(page.terms)]) for at, term in enumerate(page.terms)]


def _is_clear(corpus: Corpus, query: dict[str, Any], hits: Sequence[tuple[float, StoredPoint]]) -> bool:
    url, keyword = query["relevant_urls"][0], query["expected_keywords"][0]
    pages = [corpus.get(point, "source_url") for _, point in hits]
    held = any(keyword.lower() in corpus.get(point, "text").lower() for _, point in hits[: _TOP_K - 1])
    return hits[0][0] >= MIN_SIMILARITY + _MARGIN and url in pages[:2] and pages.count(url) <= _OF_ONE_PAGE and held


def _enrich(query: dict[str, Any], number: int) -> None:
    """Let queries differ in what they state: some a chapter, some keywords, a few are critical."""
    if number % 3:
        query.pop("expected_chapter", None)
    if number % 2:
        query.pop("expected_keywords", None)
    if number % 13 == 0:
        query["critical"] = True


def _foreign(corpus: Corpus, pages: Sequence[Page]) -> Iterator[dict[str, Any]]:
    by_slug = {page.path.partition("/")[2]: page for page in pages}
    for entry in data("queries.yaml")["foreign"]:
        yield {
            "id": entry["id"],
            "query_text": entry["query_text"],
            "category": "translation",
            "expected_module": "Translations",
            "relevant_urls": [by_slug[entry["page"]].url],
        }


def _negative(corpus: Corpus) -> Iterator[dict[str, Any]]:
    for name, text in data("queries.yaml")["negative"].items():
        yield {
            "id": name,
            "query_text": text,
            "category": "out of scope",
            "negative": True,
            "min_similarity": MIN_SIMILARITY,
        }
