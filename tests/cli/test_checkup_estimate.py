from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.cli.checkup.check import Check
from ragval_pipeline.cli.checkup.estimate import Provider, Size, check_estimate, estimate
from ragval_pipeline.sources.embedders.base import EmbeddingCost
from ragval_pipeline.sources.embedders.opening import open_embedder
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.validation.first_look.points import Look
from tests.suite.writing import suite_of

TEXT = "The gripper of the robot weighs a hundred grams. " * 10
QUERIES = [f"How heavy is part {number}?" for number in range(30)]


def checked(folder: Path, *, points: int = 500, **sections: Any) -> Check:
    settings = {"provider": "openai", "api_key": "k", **sections.pop("embedding", {})}
    suite = suite_of(folder, embedding=settings, queries=QUERIES, **sections)
    keys = ("provider", "model", "base_url", "dimension")
    embedder = open_embedder(**{key: getattr(suite.embedding, key) for key in keys}, api_key="k")
    embedder.cost = EmbeddingCost(calls=1, inputs=3, billed_tokens=300.0, tries=1, elapsed_s=0.5)
    facts = CollectionFacts.model_construct(points_count=points, local=False)
    look = Look(facts, [Point(str(number), {"chunk_text": TEXT}) for number in range(3)])
    return check_estimate(suite, load_queries(suite), look, embedder, pages=0)


def test_time_calls_tokens_money_and_storage_are_estimated_before_anything_is_spent(tmp_path: Path) -> None:
    check = checked(tmp_path)
    # 30 queries in a call, 31 single calls and one of 20; 200 stored texts.
    assert "36 embedding calls" in check.message
    assert "tokens, under 0.01 USD by the list price of 20" in check.message
    assert "requests to Qdrant" in check.message
    assert "estimate" in check.message
    assert check.state == "ok"
    assert checked(tmp_path, points=5_000_000).state == "note"


def test_an_embedded_qdrant_is_not_waited_for(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, queries=QUERIES)
    size = Size(500, pages=0, queries=30, text_characters=500)
    own, server = (estimate(suite, size, Provider(), local=local) for local in (True, False))
    assert own.seconds == own.cpu_s == server.cpu_s < server.seconds


def test_latency_that_is_off_embeds_nothing(tmp_path: Path) -> None:
    assert "4 embedding calls" in checked(tmp_path, latency="off").message


def test_money_grows_with_what_is_embedded(tmp_path: Path) -> None:
    large = {"model": "text-embedding-3-large", "identity_sample": 100_000}
    check = checked(tmp_path, points=100_000, embedding=large)
    tokens = float(check.message.split(" embedding calls, ")[1].split(" tokens")[0].replace(",", ""))
    assert f"{tokens * 0.13 / 1e6:,.2f} USD" in check.message
    assert tokens > 5_000_000


@pytest.mark.parametrize(
    ("limits", "state", "words"),
    [
        ({"calls": 36}, "ok", ""),
        ({"calls": 35}, "note", "more than budget.calls 35"),
        ({"tokens": 100}, "note", "more than budget.tokens 100"),
    ],
)
def test_a_budget_that_will_not_suffice_is_reported_before(
    tmp_path: Path, limits: dict[str, int], state: str, words: str
) -> None:
    check = checked(tmp_path, budget=limits)
    assert check.state == state
    assert words in check.message


def test_what_nobody_knows_the_price_of_and_what_costs_nothing_say_so(tmp_path: Path) -> None:
    gateway = checked(tmp_path, embedding={"base_url": "https://gateway.example/v1", "model": "text-embedding-3-small"})
    assert "at an unknown price" in gateway.message
    assert "USD" not in gateway.message
    free = checked(tmp_path, embedding={"provider": "static"})
    assert "at no cost" in free.message
