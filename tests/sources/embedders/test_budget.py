from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from upath import UPath

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.budget import Budget, BudgetReachedError
from ragval_pipeline.sources.embedders.cache import CachingEmbedder
from ragval_pipeline.sources.embedders.custom import CustomEmbedder
from ragval_pipeline.sources.embedders.http_apis import http_embedder
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.embedders.tokens import most_tokens
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.api_standins import OpenAIStandIn

TEXTS = [f"robot number {number}" for number in range(96)]  # three calls of 32


def metered(server, folder, **limits):
    policy = RetrySettings(max=3, delay_s=0.0, deadline_s=20)
    inner = http_embedder("openai", model="m", api_key="k", base_url=server.url, policy=policy)
    inner.budget = Budget(**{"calls": None, "tokens": None, **limits}, ledger=UPath(folder) / "ledger")
    return CachingEmbedder(inner)


@pytest.mark.parametrize(("limit", "made"), [(1, 1), (2, 2), (3, 3), (4, 3)])
def test_calls_up_to_the_limit_are_made_and_none_beyond(tmp_path, limit, made):
    with OpenAIStandIn(dimension=8) as server:
        embedder = metered(server, tmp_path, calls=limit)
        with suppress(BudgetReachedError):
            embedder.embed(TEXTS, input_type="search_document")
        assert len(server.requests) == made == embedder.cost.calls
        if limit < 3:
            with pytest.raises(BudgetReachedError, match=rf"budget\.calls is {limit}: {limit} spent"):
                embedder.embed(["one more"], input_type="search_document")
            assert len(server.requests) == made
            # What was paid for is remembered.
            assert embedder.embed(TEXTS[:32], input_type="search_document").cache_hits == 32


def test_repeated_calls_count_and_are_not_made_beyond_the_limit(tmp_path):
    with OpenAIStandIn(dimension=8) as server:
        server.fail("503")
        embedder = metered(server, tmp_path, calls=2)
        with pytest.raises(BudgetReachedError):
            embedder.embed(["a"], input_type="search_query")
        assert len(server.requests) == 2 == embedder.cost.tries


@pytest.mark.parametrize(("short", "made"), [(0, 2), (1, 1)])
def test_a_call_is_made_only_when_its_most_tokens_fit(tmp_path, short, made):
    with OpenAIStandIn(dimension=8) as server:
        # The stand-in bills one token a word: what was expected is replaced by it.
        limit = 32 * 3 + sum(most_tokens(TEXTS[32:64], "m")) - short
        embedder = metered(server, tmp_path, tokens=limit)
        with pytest.raises(BudgetReachedError, match=r"budget\.tokens is .* the next call would take up to"):
            embedder.embed(TEXTS, input_type="search_document")
        assert len(server.requests) == made
        assert embedder.cost.billed_tokens == made * 96 <= limit


def test_what_a_provider_refuses_takes_no_tokens(tmp_path):
    with OpenAIStandIn(dimension=8) as server:
        server.fail("400", times=1)
        embedder = metered(server, tmp_path, tokens=sum(most_tokens(["a robot"], "m")))
        with pytest.raises(SystemFailure):
            embedder.embed(["a robot"], input_type="search_query")
        assert embedder.embed(["a robot"], input_type="search_query").calls == 1


def test_steps_that_run_at_once_share_the_limit_and_never_pass_it(tmp_path):
    start = threading.Barrier(8)

    def step(_):
        budget = Budget(calls=10, tokens=None, ledger=UPath(tmp_path) / "ledger")
        made = 0
        start.wait()
        for _ in range(5):
            with suppress(BudgetReachedError):
                budget.begin(["a"], "m")
                made += 1
        return made

    with ThreadPoolExecutor(8) as pool:
        made = sum(pool.map(step, range(8)))
    assert 1 <= made <= 10
    assert Budget(calls=10, tokens=None, ledger=UPath(tmp_path) / "ledger").spent() == (made, 0)


@pytest.mark.parametrize("inner", [StaticEmbedder, lambda: CustomEmbedder(f"{__name__}:free_of_charge")])
def test_calls_on_this_machine_count_without_tokens(tmp_path, inner):
    embedder = CachingEmbedder(inner())
    for layer in (embedder, embedder.inner):
        if hasattr(layer, "budget"):
            layer.budget = Budget(calls=2, tokens=1, ledger=UPath(tmp_path) / "ledger")
    for text in ("one robot", "another robot", "another robot"):
        embedder.embed([text], input_type="search_document")
    with pytest.raises(BudgetReachedError, match=r"budget\.calls is 2: 2 spent"):
        embedder.embed(["a third robot"], input_type="search_document")
    assert embedder.cost.calls == 2


def free_of_charge(texts, input_type):
    return [[1.0, float(len(text))] for text in texts]


free_of_charge.free = True
