"""Hits in a reranker's order: Cohere's SDK against a server on this machine, and one's own function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from ragval_pipeline.errors import BudgetReachedError, SuiteError, SystemFailure
from ragval_pipeline.measuring.preflight import check_before_any_call
from ragval_pipeline.sources.embedders.budget import Budget
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.search.rerank import CohereReranker, RerankedSearcher, open_reranker
from ragval_pipeline.sources.stores.qdrant.protocol import Found, Hit
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.cohere_server import CohereStandIn

TEXTS = ["gears turn", "a robot arm with gears", "nothing", "robot arm"]
KEY = "secret-key-1234567890"


@pytest.fixture
def cohere() -> Iterator[CohereStandIn]:
    with CohereStandIn(delay_s=0.2) as standin:
        yield standin


@pytest.fixture
def model(cohere: CohereStandIn) -> Iterator[CohereReranker]:
    policy = RetrySettings(max=2, delay_s=0)
    with closing(CohereReranker(model="rerank-v4.0-fast", api_key=KEY, base_url=cohere.url, policy=policy)) as made:
        yield made


def test_each_text_has_a_score_and_the_same_question_is_sent_once(cohere: CohereStandIn, model: CohereReranker) -> None:
    scores = model.scores("robot arm", TEXTS)
    assert [round(score, 2) for score in scores] == [0.0, 1.0, 0.0, 1.0]
    assert model.scores("robot arm", TEXTS) == pytest.approx(scores)
    assert (model.cost.calls, model.cost.searches, model.cost.cache_hits) == (1, 1.0, 1)
    [request] = cohere.requests
    assert request.path == "/v2/rerank"
    assert request.body["documents"] == TEXTS


def test_a_busy_provider_is_asked_again_and_a_broken_one_named_without_the_key(
    cohere: CohereStandIn, model: CohereReranker
) -> None:
    cohere.fail("429", times=1, headers={"Retry-After": "0"})
    assert len(model.scores("robot arm", TEXTS)) == 4
    assert model.cost.calls == 2
    for mode in ("401", "html_ok", "reset"):
        cohere.fail(mode)
        with pytest.raises(SystemFailure, match="Cohere at 127") as failed:
            model.scores(f"robot arm {mode}", TEXTS)
        assert KEY not in str(failed.value)
        assert failed.value.system == "reranker"
        assert "embedding." not in failed.value.remedy


def test_a_slow_provider_is_given_up(cohere: CohereStandIn) -> None:
    cohere.fail("slow")
    slow = CohereReranker(
        model="m", api_key=KEY, base_url=cohere.url, timeout_s=0.05, policy=RetrySettings(max=0, delay_s=0)
    )
    with closing(slow), pytest.raises(SystemFailure):
        slow.scores("robot arm", TEXTS)


def test_the_budget_counts_its_calls(cohere: CohereStandIn, model: CohereReranker, tmp_path: Path) -> None:
    model.budget = Budget(calls=1, tokens=5, ledger=UPath(tmp_path / "budget"))
    model.scores("robot arm", TEXTS)
    with pytest.raises(BudgetReachedError):
        model.scores("another question", TEXTS)
    assert len(cohere.requests) == 1


class Listed:
    """A searcher that finds the texts in their order."""

    def prepare(self, texts: Sequence[str]) -> float | None:
        return 1.5

    def refusal(self, text: str) -> str | None:
        return None

    def search_all(self, asked: Sequence[Asked], *, fields: Sequence[str]) -> Iterator[Found]:
        assert "text" in fields
        for each in asked:
            hits = [Hit(rank, str(rank), 0.9, {"text": text}) for rank, text in enumerate([None, *TEXTS], 1)]
            yield Found(hits[: each.limit], 2.0, datetime.now(UTC))


def test_hits_come_in_the_models_order_and_those_without_a_text_last(model: CohereReranker) -> None:
    searcher = RerankedSearcher(Listed(), model, 5, "text")
    assert searcher.prepare(["robot arm"]) == 1.5
    [few, all_of_them] = searcher.search_all([Asked("robot arm", 2), Asked("robot arm", 40)], fields=())
    assert [hit.id for hit in few.hits] == ["3", "5"]
    assert [hit.id for hit in all_of_them.hits] == ["3", "5", "2", "4", "1"]
    assert [hit.rank for hit in all_of_them.hits] == [1, 2, 3, 4, 5]
    scores = [hit.score for hit in all_of_them.hits]
    assert scores == sorted(scores, reverse=True)


def suite_of(rerank: Any, **more: Any) -> Suite:
    retrieval = {"also": ["rerank"], "rerank": rerank}
    written = {"suite": "book", "qdrant": {"url": "http://q", "collection": "c"}, "queries": []}
    return Suite.model_validate({**written, "embedding": {"provider": "static"}, "retrieval": retrieval, **more})


def test_a_function_of_ones_own_orders_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def good(question, texts): return [len(text) for text in texts]\ndef bad(question, texts): return [1]\n"
    (tmp_path / "own_rerank.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert open_reranker(suite_of("own_rerank:good")).scores("x", ["a", "abc"]) == [1.0, 3.0]
    with pytest.raises(SystemFailure, match="1 scores for 2 texts"):
        open_reranker(suite_of("own_rerank:bad")).scores("x", ["a", "abc"])
    with pytest.raises(SuiteError, match=r"retrieval\.rerank"):
        check_before_any_call(suite_of("own_rerank:none"), only={"queries"})


def test_its_key_is_cohere_s_wherever_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SuiteError, match=r"retrieval\.rerank\.api_key"):
        check_before_any_call(suite_of({"model": "m"}), only={"queries"})
    own = {"embedding": {"provider": "cohere", "api_key": KEY}}
    for suite in (resolve_suite(suite_of({}, **own), {}), resolve_suite(suite_of({}), {"CO_API_KEY": KEY})):
        rerank = suite.retrieval.rerank
        assert rerank is not None
        assert not isinstance(rerank, str)
        assert rerank.api_key is not None
        assert rerank.api_key.get_secret_value() == KEY
        assert KEY not in repr(suite)


def test_rerank_without_a_model_is_refused() -> None:
    with pytest.raises(ValueError, match="say which model"):
        suite_of(None)
