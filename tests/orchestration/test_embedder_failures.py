"""A provider that refuses, limits or falls silent: the finding says with which status and after how many tries, and the
report counts every call that was made. The Cohere SDK is the real one, the provider a server on this machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ragval_pipeline.measuring.query_validation_results import _cut_short
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.sources.embedders.cohere import CohereEmbedder
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.report import ValidationReport
from tests.orchestration.world import World
from tests.support.cohere_server import CohereStandIn

pytestmark = pytest.mark.usefixtures("without_gx")


@pytest.fixture
def cohere() -> Iterator[CohereStandIn]:
    """Answers after a second when it is told to be slow."""
    with CohereStandIn(dimension=256, delay_s=1.0) as server:
        yield server


def validated(world: World, base_url: str, *only: str, timeout_s: float = 30, **embedding: Any) -> ValidationReport:
    settings = {"provider": "cohere", "model": "their-model", "base_url": base_url, "api_key": "a-test-key"}
    changes: dict[str, Any] = {
        "qdrant": {"timeout_s": timeout_s},
        "embedding": {**settings, **embedding},
        "retry": {"max": 2, "delay_s": 0.01},
    }
    return run_suite(world.suite(changes), only=list(only)).report


def unreachable(report: ValidationReport) -> Any:
    [finding] = [finding for finding in report.findings if finding.code == "embedder.unreachable"]
    return finding


@pytest.mark.parametrize(
    ("mode", "status", "tries", "subject"),
    [
        ("401", 401, 1, "HTTP 401"),
        ("429", 429, 3, "HTTP 429"),
        ("slow", None, 3, "timed out"),
    ],
)
def test_status_and_tries_are_reported_and_every_call_is_counted(
    world: World, cohere: CohereStandIn, mode: str, status: int | None, tries: int, subject: str
) -> None:
    cohere.fail(mode)
    report = validated(world, cohere.url, "queries", timeout_s=0.3 if mode == "slow" else 30)
    finding = unreachable(report)
    assert (finding.details["status"], finding.details["tries"], finding.subjects) == (status, tries, [subject])
    assert report.verdict == "error"
    # Two measurements ask for queries: the suite's own, and the titles of the pages.
    assert report.cost.embedding_calls == len(cohere.requests) == 2 * tries
    assert report.cost.embedding_inputs > 0
    assert report.cost.billed_tokens is None


def test_statistics_that_need_no_embedder_are_there_when_it_fails(world: World, cohere: CohereStandIn) -> None:
    cohere.fail("401")
    report = validated(world, cohere.url, "queries", "metadata")
    quality = report.quality_metrics
    assert report.verdict == "error"
    assert quality.total_chunks == quality.chunks_with_complete_metadata > 0
    assert quality.token_distribution.median is not None
    assert (quality.avg_similarity_score, quality.similarity_distribution.avg) == (None, None)


def test_every_measurement_that_embeds_counts_its_calls(world: World, cohere: CohereStandIn) -> None:
    groups = ("queries", "latency", "vectors", "index")
    report = validated(world, cohere.url, *groups)
    assert report.cost.embedding_calls == len(cohere.requests)
    assert report.cost.embedding_inputs == sum(len(request.body["texts"]) for request in cohere.requests)
    cohere.requests.clear()
    cohere.fail("401")
    report = validated(world, cohere.url, *groups)
    # Stored texts and timed calls; the vectors of the queries are kept from the run before.
    assert report.cost.embedding_calls == len(cohere.requests) == 2


def test_a_query_that_production_cuts_is_judged_by_its_beginning(world: World, cohere: CohereStandIn) -> None:
    essay = {"id": "essay", "query_text": "How does a robot walk? " * 150, "expected_keywords": ["robot"]}
    (world.folder / "queries.yaml").write_text(yaml.safe_dump([essay]), encoding="utf-8")
    [asked] = validated(world, cohere.url, "queries", long_queries="cut").query_results
    assert (asked.status, asked.passed) == ("success", True)


def test_a_query_that_is_judged_by_its_beginning_is_named_when_it_is_asked(caplog: pytest.LogCaptureFixture) -> None:
    queries = [
        TestQuery(id="essay", query_text="How does a robot walk? " * 150),
        TestQuery(id="short", query_text="Why?"),
    ]
    cut = _cut_short(queries, CohereEmbedder(model="embed-english-v3.0", api_key="a-test-key", cut_queries=True))
    [told] = [entry.getMessage() for entry in caplog.records]
    assert told == f"essay: {cut['essay']}"
    assert told.startswith("essay: the query has at least ")
    assert told.endswith(" tokens, of which embed-english-v3.0 reads the first 512")


def test_a_query_that_is_too_long_is_an_error_by_name_and_the_others_are_judged(
    world: World, cohere: CohereStandIn
) -> None:
    queries = yaml.safe_load((world.folder / "queries.yaml").read_text(encoding="utf-8"))
    before = validated(world, cohere.url, "queries", "latency", "index")
    queries.insert(0, {"id": "essay", "query_text": "How does a robot walk? " * 150, "expected_keywords": ["robot"]})
    (world.folder / "queries.yaml").write_text(yaml.safe_dump(queries), encoding="utf-8")
    report = validated(world, cohere.url, "queries", "latency", "index")
    assert "embedder.unreachable" not in {finding.code for finding in report.findings}
    first, *others = report.query_results
    assert (first.query_id, first.status, first.passed) == ("essay", "error", None)
    assert "too many tokens" in (first.fail_reason or "")
    judged = {result.query_id: (result.passed, result.best_similarity) for result in others}
    assert judged == {result.query_id: (result.passed, result.best_similarity) for result in before.query_results}
    failed = next(finding for finding in report.findings if finding.code == "query.failed")
    assert "essay" in failed.subjects
    latency = next(criterion for criterion in report.criteria if criterion.name == "latency_p95_ms")
    assert latency.value is not None
