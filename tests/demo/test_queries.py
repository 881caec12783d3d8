from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ragval_pipeline.demo.ingest import sitemap_urls
from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.sources.embedders.opening import open_embedder
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.suite.queries.model import TestQuery


class Search:
    """Exact search over the demo's points."""

    def __init__(self, points: list[Any]) -> None:
        self.payloads = [point.payload for point in points]
        self.vectors = np.array([point.vector for point in points])
        self.embedder = open_embedder(provider="static")

    def __call__(self, text: str, limit: int = 5) -> list[tuple[float, dict[str, Any]]]:
        scores = self.vectors @ self.embedder.embed([text], input_type="search_query").vectors[0]
        return [(float(scores[i]), self.payloads[i]) for i in np.argsort(-scores)[:limit]]

    def pages(self, text: str) -> list[str]:
        """Every page, best chunk first."""
        return list(dict.fromkeys(payload["source_url"] for _, payload in self(text, len(self.payloads))))


@pytest.fixture(scope="module")
def search(points: list[Any]) -> Search:
    return Search(points)


@pytest.fixture(scope="module")
def suite(demo: DemoHome) -> Suite:
    return load_suite(demo.suite_file)


@pytest.fixture(scope="module")
def queries(suite: Suite) -> list[TestQuery]:
    return load_queries(suite)


@pytest.fixture(scope="module")
def positive(queries: list[TestQuery]) -> list[TestQuery]:
    return [query for query in queries if not query.negative]


def _holds(text: str, keyword: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(keyword)}(?!\w)", text, flags=re.IGNORECASE) is not None


def test_the_suite_asks_about_every_module_and_has_each_kind_of_query(queries: list[TestQuery], points: list[Any]):
    asked = {query.expected_module for query in queries} - {None}
    assert asked == {point.payload["module_name"] for point in points}
    assert len(queries) == 22
    assert sum(query.negative for query in queries) == 2
    assert sum(query.critical for query in queries) == 2
    assert sum(query.category == "broad" for query in queries) == 1
    assert sum(len(query.query_text.split()) > 60 for query in queries) == 1


def test_every_page_and_chapter_that_a_query_names_exists(demo: DemoHome, queries: list[TestQuery], points: list[Any]):
    urls = set(sitemap_urls(demo.site))
    chapters = {point.payload["chapter_id"] for point in points}
    for query in queries:
        assert {*query.relevant_urls, *query.acceptable_urls} <= urls
        assert query.expected_chapter is None or query.expected_chapter in chapters


def test_every_positive_query_passes_with_a_clear_margin(positive: list[TestQuery], search: Search, suite: Suite):
    for query in positive:
        hits = search(query.query_text, suite.retrieval.top_k)
        assert hits[0][0] >= suite.retrieval.min_similarity + 0.10, query.id
        payloads = [payload for _, payload in hits]
        assert query.expected_module in {None, *(payload["module_name"] for payload in payloads)}, query.id
        assert query.expected_chapter in {None, *(payload["chapter_id"] for payload in payloads)}, query.id
        texts = "\n".join(payload["chunk_text"] for payload in payloads)
        assert not query.expected_keywords or any(_holds(texts, word) for word in query.expected_keywords), query.id


def test_every_negative_query_stays_well_below_its_limit(queries: list[TestQuery], search: Search, suite: Suite):
    for query in queries:
        if query.negative:
            assert query.min_similarity == suite.retrieval.min_similarity
            assert search(query.query_text)[0][0] < query.min_similarity - 0.10, query.id


def test_no_keyword_is_met_by_many_chunks(positive: list[TestQuery], points: list[Any]):
    texts = [point.payload["chunk_text"] for point in points]
    for query in positive:
        met = sum(any(_holds(text, word) for word in query.expected_keywords) for text in texts)
        assert met <= 0.1 * len(texts), query.id
