"""Vectors of a provider that takes money: 200 points are embedded again, and the report says what that cost."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.headline import headline
from ragval_pipeline.reporting.run import Run
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.testing.defects.verify import Seen
from ragval_pipeline.validation.verdict import EXIT_CODES
from tests.support.cohere_server import CohereStandIn, hashed_vector

POINTS, SIZE, SAMPLED = 300, 384, 200
Vectors = list[list[float]]


@pytest.fixture
def cohere() -> Iterator[CohereStandIn]:
    with CohereStandIn(dimension=SIZE) as server:
        yield server


def texts() -> list[str]:
    """Paragraphs of words that hardly share any."""
    rng = random.Random(5)
    return [" ".join(f"w{rng.randrange(5000)}" for _ in range(40)) for _ in range(POINTS)]


def validated(
    folder: Path,
    cohere: CohereStandIn,
    spoil: Callable[[Vectors], None],
    budget: Any = None,
    queries: Any = None,
    **embedding: Any,
) -> Run:
    """Store the texts with their vectors, spoilt, and validate the vectors, and the queries if there are any."""
    from qdrant_client import QdrantClient, models

    vectors = [hashed_vector(text, SIZE) for text in texts()]
    spoil(vectors)
    with closing(QdrantClient(path=str(folder / "qdrant"))) as client:
        space = models.VectorParams(size=SIZE, distance=models.Distance.COSINE)
        client.create_collection("c", vectors_config=space)
        rows = zip(texts(), vectors, strict=True)
        points = [
            models.PointStruct(id=str(uuid.UUID(int=place)), vector=vector, payload={"chunk_text": text})
            for place, (text, vector) in enumerate(rows)
        ]
        client.upsert("c", points)
    model = "embed-english-light-v3.0"
    settings = {"provider": "cohere", "base_url": cohere.url, "api_key": "k", "model": model, **embedding}
    suite: dict[str, Any] = {
        "suite": "paid",
        "budget": budget,
        "payload": {"required": ["chunk_text"]},
        "qdrant": {"path": "./qdrant", "collection": "c"},
        "embedding": settings,
    }
    suite |= {"report_uri": "./reports", "latency": "off", **({"queries": queries} if queries else {})}
    (folder / "ragval.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    only = ["vectors", "metadata", *(["queries"] if queries else [])]
    return run_suite(load_suite(folder / "ragval.yaml"), only=only)


def sampled(run: Run) -> tuple[Any, Any]:
    """Numerator and denominator of ``embedding_match``."""
    value = next(entry for entry in run.report.criteria if entry.name == "embedding_match")
    return value.numerator, value.denominator


def codes(run: Run) -> dict[str, set[str]]:
    seen = Seen(run.report, run.folder)
    return {finding.code: set(seen.subjects(finding)) for finding in seen.findings if finding.code.startswith("vector")}


@pytest.mark.parametrize(("calls", "exit_code"), [(3, 0), (2, 4)])
def test_a_run_stops_at_its_budget_and_keeps_what_it_measured(
    tmp_path: Path, cohere: CohereStandIn, calls: int, exit_code: int
) -> None:
    """200 texts are three calls."""
    run = validated(tmp_path, cohere, lambda vectors: None, budget={"calls": calls})
    assert EXIT_CODES[run.report.verdict] == exit_code
    assert len(cohere.requests) == run.report.cost.embedding_calls == min(calls, 3)
    assert (run.report.cost.stopped is None) == (exit_code == 0)
    assert run.report.findings == []
    assert Path(run.folder, "report.html").exists()
    asked = {entry.name: entry for entry in run.report.criteria}
    assert asked["metadata_completeness"].verdict == "met"
    if exit_code:
        assert asked["embedding_match"].reason_code == "no_data"
        assert f"budget.calls is {calls}" in asked["embedding_match"].reason
        assert f"budget.calls is {calls}" in headline(run.report)
    else:
        texts_asked = [text for request in cohere.requests for text in request.body["texts"]]
        assert sampled(run) == (SAMPLED, SAMPLED)
        assert len(texts_asked) == run.report.cost.embedding_inputs == SAMPLED
        assert run.report.cost.billed_tokens == SAMPLED * 40
        assert {request.body["input_type"] for request in cohere.requests} == {"search_document"}


def test_a_budget_for_less_than_everything_pays_for_the_test_queries_first(
    tmp_path: Path, cohere: CohereStandIn
) -> None:
    queries = [{"id": f"q{number}", "query": text} for number, text in enumerate(texts()[:5])]
    run = validated(tmp_path, cohere, lambda vectors: None, budget={"calls": 2}, queries=queries)
    asked = {entry.name: entry for entry in run.report.criteria}
    assert (asked["query_pass_rate"].numerator, asked["query_pass_rate"].denominator) == (5, 5)
    assert asked["embedding_match"].reason_code == "no_data"
    assert [request.body["input_type"] for request in cohere.requests] == ["search_query", "search_document"]
    assert run.report.cost.embedding_calls == 2
    assert run.report.cost.stopped is not None


def test_the_suite_may_ask_for_more_or_for_nothing(tmp_path: Path, cohere: CohereStandIn) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "none").mkdir()
    every = validated(tmp_path / "all", cohere, lambda vectors: None, identity_sample=1000)
    assert sampled(every) == (POINTS, POINTS)
    cohere.requests.clear()
    nothing = validated(tmp_path / "none", cohere, lambda vectors: None, identity_sample=0)
    assert sampled(nothing) == (None, None)
    assert cohere.requests == []


def test_points_of_another_model_are_named_as_far_as_they_are_in_the_sample_and_zeros_everywhere(
    tmp_path: Path, cohere: CohereStandIn
) -> None:
    def turn(vectors: Vectors) -> None:
        for place in range(0, POINTS, 3):
            vectors[place] = [-value for value in reversed(vectors[place])]
        for place in range(1, POINTS, 30):
            vectors[place] = [0.0] * SIZE

    run = validated(tmp_path, cohere, turn)
    matching, of = sampled(run)
    named = codes(run)["vector.mixed_models"]
    assert 0 <= of - matching - len(named) <= POINTS // 30, "zero vectors are asked about where the sample meets them"
    assert codes(run)["vector.zero"] == {str(uuid.UUID(int=place)) for place in range(1, POINTS, 30)}
    assert named <= {str(uuid.UUID(int=place)) for place in range(0, POINTS, 3)}
    assert 40 <= len(named) <= 100
