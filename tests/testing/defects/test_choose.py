from __future__ import annotations

import random

import pytest

from ragval_pipeline.demo.ingest import module_of
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.testing.defects import ALL, HALF, ONE, Corpus
from ragval_pipeline.testing.defects.choose import choose_pages, choose_points, choose_queries


@pytest.fixture
def rng() -> random.Random:
    return random.Random(7)


def test_pages_that_were_chosen_once_are_not_chosen_again(corpus: Corpus, rng: random.Random):
    first = choose_pages(corpus, HALF, rng)
    second = choose_pages(corpus, HALF, rng)
    assert first
    assert not set(first) & set(second)


def test_queries_about_chosen_pages_are_left_alone(corpus: Corpus, rng: random.Random):
    pages = set(choose_pages(corpus, HALF, rng))
    queries = choose_queries(corpus, ALL, rng, suits=lambda query: not query.get("negative"))
    assert queries
    assert not [query for query in queries if pages & set(query["relevant_urls"])]


def test_a_draft_that_no_finding_counts_is_not_spoilt(corpus: Corpus, rng: random.Random):
    for query in corpus.queries[1:]:
        query["status"] = "draft"
    assert choose_queries(corpus, ALL, rng, suits=lambda query: True) == corpus.queries[:1]
    with pytest.raises(NothingToSpoilError):
        choose_queries(corpus, ALL, rng, suits=lambda query: True)


def test_every_module_can_be_left_with_a_page(corpus: Corpus, rng: random.Random):
    modules = {module_of(url.partition("/docs/")[2]) for url in corpus.scope_urls}
    chosen = choose_pages(corpus, ALL, rng, leave_modules=True)
    left = set(corpus.scope_urls) - set(chosen)
    assert {module_of(url.partition("/docs/")[2]) for url in left} == modules


def test_the_amount_counts_against_all_that_qualify(corpus: Corpus, rng: random.Random):
    assert len(choose_points(corpus, HALF, rng)) == round(len(corpus.points) / 2)


def test_nothing_left_to_spoil_is_an_error(corpus: Corpus, rng: random.Random):
    choose_pages(corpus, ALL, rng)
    with pytest.raises(NothingToSpoilError):
        choose_points(corpus, ONE, rng)
