from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.cli.checkup.cost import check_cost
from ragval_pipeline.sources.embedders import EmbeddingCost, open_embedder
from tests.suite.writing import suite_of

STORED = ["The gripper of the robot weighs a hundred grams. " * 10] * 3
QUERIES = [f"How heavy is part {number}?" for number in range(30)]


def checked(folder: Path, *, points: int = 500, cost: EmbeddingCost | None = None, **sections):
    settings = {"provider": "openai", "api_key": "k", **sections.pop("embedding", {})}
    suite = suite_of(folder, embedding=settings, queries=QUERIES, **sections)
    keys = ("provider", "model", "base_url", "dimension")
    given = {key: getattr(suite.embedding, key) for key in keys}
    embedder = open_embedder(**given, api_key="k")
    embedder.cost = cost or EmbeddingCost(calls=1, inputs=3, billed_tokens=300.0, tries=1, elapsed_s=0.5)
    return check_cost(suite, embedder, STORED, points)


def test_calls_tokens_money_and_time_are_told_before_anything_is_spent(tmp_path):
    check = checked(tmp_path)
    # 30 queries twice, 31 single calls and one of 20; 200 stored texts in calls of 96.
    assert "about 37 embedding calls" in check.message
    assert "tokens, under 0.01 USD by prices of 20" in check.message
    assert check.message.endswith("about 18.5 s")
    assert check.state == "ok"


def test_money_grows_with_what_is_embedded(tmp_path):
    large = {"model": "text-embedding-3-large", "identity_sample": 100_000}
    check = checked(tmp_path, points=100_000, embedding=large)
    tokens = float(check.message.split(" calls, ")[1].split(" tokens")[0].replace(",", ""))
    assert f"{tokens * 0.13 / 1e6:,.2f} USD" in check.message
    assert tokens > 5_000_000


@pytest.mark.parametrize(
    ("limits", "state", "words"),
    [
        ({"calls": 37}, "ok", ""),
        ({"calls": 36}, "note", "more than budget.calls 36"),
        ({"tokens": 100}, "note", "more than budget.tokens 100"),
    ],
)
def test_a_budget_that_will_not_do_is_told_before(tmp_path, limits, state, words):
    check = checked(tmp_path, budget=limits)
    assert check.state == state
    assert words in check.message


def test_what_nobody_knows_the_price_of_and_what_costs_nothing_say_so(tmp_path):
    gateway = checked(tmp_path, embedding={"base_url": "https://gateway.example/v1", "model": "text-embedding-3-small"})
    assert "price is not known" in gateway.message
    assert "USD" not in gateway.message
    free = checked(tmp_path, embedding={"provider": "static"})
    assert "nothing is paid" in free.message
