from __future__ import annotations

import math
import random

import pytest

from ragval_pipeline.sources.search.timing import BatchTiming, Timing, Timings
from ragval_pipeline.validation.latency import measure_latency, nearest_rank, nothing_timed, summary


def timings(*searches: float, embedding_ms: float | None = 1.0) -> Timings:
    warm = [Timing(f"q{number % 3}", embedding_ms, search) for number, search in enumerate(searches)]
    return Timings(Timing("q0", 300.0, 50.0), warm, BatchTiming(10, 20.0), embedding_retries=2, waited_ms=1500.0)


def test_p95_is_taken_of_embedding_and_search_together() -> None:
    measurement = measure_latency(timings(*range(1, 21)), budget_ms=100)
    value = measurement.value("latency_p95_ms")
    assert value is not None
    assert (value.value, value.denominator) == (20.0, 20)
    assert measurement.findings == ()


def test_the_section_keeps_cold_start_batches_retries_and_waiting_apart() -> None:
    section = measure_latency(timings(*range(1, 21)), budget_ms=100).sections["latency"]
    assert section["search_ms"] == {"p50": 10, "p95": 19, "max": 20, "n": 20}
    assert section["total_ms"]["p50"] == 11
    assert section["queries"] == 3
    assert section["cold_start_ms"] == 350.0
    assert section["batch"] == {"inputs": 10, "embedding_ms_per_input": 2.0, "inputs_per_second": 500.0}
    assert section["retries"] == {"embedding": 2, "search": 0, "waited_ms": 1500.0}


@pytest.mark.parametrize(
    ("embedding_ms", "slower"),
    [(1.0, "the search"), (500.0, "embedding the query"), (None, "embeds and searches in one call")],
)
def test_over_budget_is_a_finding_that_says_which_part_is_slow(embedding_ms: float | None, slower: str) -> None:
    [finding] = measure_latency(timings(*[30.0] * 20, embedding_ms=embedding_ms), budget_ms=20).findings
    assert (finding.code, finding.scope) == ("retrieval.slow", "latency_p95_ms")
    assert (finding.details["percentile"], finding.details["n"]) == (95, 20)
    assert slower in finding.cause


def test_nothing_timed_is_not_measured() -> None:
    value = nothing_timed("the suite has no test queries").value("latency_p95_ms")
    assert value is not None
    assert (value.value, value.reason_code) == (None, "no_data")
    assert measure_latency(timings(), budget_ms=20).values[0].reason_code == "no_data"


@pytest.mark.parametrize(
    ("number", "percent", "expected"),
    [(20, 95, 19), (20, 50, 10), (21, 95, 20), (1, 95, 1), (2, 50, 1), (100, 95, 95), (100, 100, 100), (3, 1, 1)],
)
def test_the_nearest_rank_is_a_value_that_was_measured(number: int, percent: float, expected: int) -> None:
    values = [float(value) for value in range(1, number + 1)]
    random.Random(number).shuffle(values)
    assert nearest_rank(values, percent) == expected


def test_at_least_the_asked_share_does_not_exceed_the_nearest_rank_and_no_smaller_value_does_that() -> None:
    rng = random.Random(4)
    for number in range(1, 60):
        values = [rng.random() for _ in range(number)]
        found = nearest_rank(values, 95)
        assert sum(value <= found for value in values) >= 0.95 * number - 1e-9
        assert sum(value < found for value in values) < 0.95 * number


def test_a_summary_of_nothing_has_no_figures() -> None:
    assert summary([]) == {"p50": None, "p95": None, "max": None, "n": 0}
    assert summary([2.0, 1.0]) == {"p50": 1.0, "p95": 2.0, "max": 2.0, "n": 2}
    assert not any(isinstance(value, float) and math.isnan(value) for value in summary([1.0]).values())
