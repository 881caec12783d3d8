"""``latency_p95_ms``, ``retrieval.slow`` and the report's section ``latency`` from timed calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.retrieval.slow import RULE as RETRIEVAL_SLOW
from ragval_pipeline.sources.search.timing import Timing, Timings
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured

ASSET = "latency_profile"
CRITERION = "latency_p95_ms"


@dataclass(frozen=True)
class Latency:
    """Latency of searches.

    Attributes:
        p95: Of embedding and search together, milliseconds.
        budget_ms: Limit above which it is a finding.
        section: The report's section.
    """

    p95: float
    budget_ms: float
    section: dict[str, Any]


def measure_latency(timings: Timings, *, budget_ms: float, partitions: Partitions | None = None) -> Measurement:
    """The measurement of ``latency_profile``.

    Args:
        timings: Of single calls, warm ones and the first.
        budget_ms: p95 of embedding and search together above which it is a finding.
        partitions: Those of the collection, if it has any.
    """
    value = _value(timings.warm)
    if value.value is None:
        return nothing_timed(value.reason)
    section = _section(timings)
    grouped = (
        partitions.grouped(timings.warm, lambda timing: partitions.of_query(timing.query_id)) if partitions else {}
    )
    return Measurement(
        asset=ASSET,
        values=(value,),
        by_partition={name: (_value(timed),) for name, timed in grouped.items()},
        findings=tuple(find_all(Latency(value.value, budget_ms, section))),
        sections={"latency": section},
    )


def _value(timed: Sequence[Timing]) -> MeasuredValue:
    if not timed:
        return not_measured(CRITERION, "no_data", "no search was timed")
    p95 = nearest_rank([timing.total_ms for timing in timed], 95)  # definition
    return MeasuredValue(name=CRITERION, value=p95, denominator=len(timed), reason=f"p95 of {len(timed):,} searches")


def nothing_timed(reason: str) -> Measurement:
    """The measurement if there is nothing to time."""
    return Measurement(asset=ASSET, values=(not_measured(CRITERION, "no_data", reason),))


def switched_off() -> Measurement:
    """The measurement of a suite with timing switched off."""
    return Measurement(asset=ASSET, values=(not_measured(CRITERION, "not_applicable", "latency is off in the suite"),))


def _section(timings: Timings) -> dict[str, Any]:
    batch = timings.batch
    return {
        "embedding_ms": summary([timing.embedding_ms for timing in timings.warm if timing.embedding_ms is not None]),
        "search_ms": summary([timing.search_ms for timing in timings.warm]),
        "total_ms": summary([timing.total_ms for timing in timings.warm]),
        "queries": len({timing.query_id for timing in timings.warm}),
        "cold_start_ms": timings.cold.total_ms,
        "cold_start": {"embedding_ms": timings.cold.embedding_ms, "search_ms": timings.cold.search_ms},
        "batch": None
        if batch is None
        else {
            "inputs": batch.inputs,
            "embedding_ms_per_input": batch.milliseconds / batch.inputs,
            "inputs_per_second": 1000 * batch.inputs / batch.milliseconds if batch.milliseconds else None,  # definition
        },
        "retries": {
            "embedding": timings.embedding_retries,
            "search": timings.search_retries,
            "waited_ms": timings.waited_ms,
        },
    }


@detector(RETRIEVAL_SLOW, needs=Latency)
def find_slow(latency: Latency) -> Iterator[Finding]:
    """Searches slower than the suite allows."""
    p95, budget_ms, section = latency.p95, latency.budget_ms, latency.section
    if p95 <= budget_ms:
        return
    embedding, search = section["embedding_ms"]["p95"], section["search_ms"]["p95"]
    details = {
        "percentile": 95,  # definition
        "n": section["total_ms"]["n"],
        "p95_ms": round(p95, 1),
        "embedding_p95_ms": None if embedding is None else round(embedding, 1),
        "search_p95_ms": round(search, 1),
        "budget_ms": budget_ms,
        "retries": section["retries"],
    }
    yield make_finding(
        RETRIEVAL_SLOW.code,
        [CRITERION],
        scope=CRITERION,
        details=details,
        message=f"95 % of the searches take up to {p95:.0f} ms, {budget_ms:g} ms are allowed.",
        cause=_cause(embedding, search),
    )


def _cause(embedding: float | None, search: float) -> str:
    if embedding is None:
        return f"The suite's own search embeds and searches in one call: p95 {search:.0f} ms."
    slower = "embedding the query" if embedding > search else "the search"
    return f"Most of it is {slower}: p95 {embedding:.0f} ms for embedding, {search:.0f} ms for the search."


def nearest_rank(values: Sequence[float], percent: float) -> float:
    """The smallest measured value that at least ``percent`` of the values do not exceed.

    Args:
        values: At least one.
        percent: Above 0, at most 100.
    """
    ordered = sorted(values)
    # In whole hundredths: 0.95 * 20 must be 19, not 19.000000000000004.
    rank = math.ceil(round(percent * len(ordered), 9) / 100)  # definition
    return ordered[max(rank, 1) - 1]


def summary(values: Sequence[float]) -> dict[str, Any]:
    """``{p50, p95, max, n}``; None figures without values."""
    if not values:
        return {"p50": None, "p95": None, "max": None, "n": 0}
    middle, high = (nearest_rank(values, percent) for percent in (50, 95))  # definition
    return {"p50": middle, "p95": high, "max": max(values), "n": len(values)}
