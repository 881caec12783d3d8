"""Recall of the default search against the exact one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.search.searchers import Probe
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.printing import percent, plural
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.index.readiness import answers_for_itself
from ragval_pipeline.validation.measurement import MeasuredValue, not_measured
from ragval_pipeline.validation.thresholds import ROUNDING

CRITERION = "ann_recall"


def why_exact(facts: CollectionFacts, vector: VectorFacts, *, asked_exact: bool) -> str | None:
    """Why every search is exact, so that there is no recall to measure; None if there is."""
    if asked_exact:
        return "the suite searches exactly"
    if not answers_for_itself(facts):
        return "the embedded Qdrant searches exactly"
    if facts.quantized:
        return None
    if facts.hnsw.get("m") == 0:
        return "the collection has no HNSW (m = 0), so every search is exact"
    if not facts.indexed_vectors_count:
        return "no vector is indexed, so every search is exact"
    kilobytes = facts.points_count * vector.size * 4 / 1024  # definition
    threshold = facts.hnsw.get("full_scan_threshold")
    if threshold and kilobytes < threshold:
        return f"{kilobytes:.0f} KB of vectors are below full_scan_threshold ({threshold} KB), so search is exact"
    return None


def recall(exact: Sequence[Hit], default: Sequence[Hit], *, higher_is_better: bool) -> float | None:
    """Share of the exact hits that the default search returns; points that tie with the last exact hit count.

    Returns:
        0..1; None if the exact search returns nothing.
    """
    if not exact:
        return None
    wanted = {hit.id for hit in exact}
    sign = 1 if higher_is_better else -1
    last = sign * exact[-1].score - ROUNDING
    returned = {hit.id: sign * hit.score for hit in default}
    found = sum(name in wanted or score >= last for name, score in returned.items())
    return min(found, len(wanted)) / len(wanted)


@dataclass(frozen=True)
class Recall:
    """Recall of searches.

    Attributes:
        collection: Its name.
        mean: Over all searches, 0..1.
        threshold: Recall below which it is a finding.
        details: For the finding and the report.
    """

    collection: str
    mean: float
    threshold: float
    details: dict[str, Any]


@detector("index.low_ann_recall", needs=Recall)
def find_low_recall(recall: Recall) -> Iterator[Finding]:
    """Recall below the suite's threshold."""
    if recall.mean < recall.threshold:
        asked = percent(recall.threshold)
        message = f"The default search returns {percent(recall.mean)} of the exact hits (required: {asked})."
        yield make_finding("index.low_ann_recall", [recall.collection], details=recall.details, message=message)


@dataclass(frozen=True)
class AnnResult:
    """``ann_recall`` with its finding and its section of the report."""

    value: MeasuredValue
    findings: tuple[Finding, ...]
    section: dict[str, Any]


def measure_ann(probes: Sequence[Probe], facts: CollectionFacts, vector: VectorFacts, *, threshold: float) -> AnnResult:
    """Mean recall over all probes.

    Below ``threshold`` it is a finding.
    """
    recalls = [
        (probe, share)
        for probe in probes
        if (share := recall(probe.exact, probe.default, higher_is_better=vector.higher_is_better)) is not None
    ]
    if not recalls:
        return AnnResult(not_measured(CRITERION, "no_data", "no search returned a hit"), (), {})
    total = sum(share for _, share in recalls)
    mean = total / len(recalls)
    value = MeasuredValue(
        name=CRITERION,
        value=mean,
        numerator=total,
        denominator=len(recalls),
        reason=f"mean over {plural(len(recalls), 'search')}",
    )
    worst = sorted(recalls, key=lambda entry: (entry[1], entry[0].name))[:SHOWN]
    details = {
        "recall": round(mean, 4),
        "queries": sum(probe.kind == "query" for probe, _ in recalls),
        "stored_vectors": sum(probe.kind == "point" for probe, _ in recalls),
        "incomplete": sum(share < 1 for _, share in recalls),
        "lowest": {probe.name: round(share, 4) for probe, share in worst if share < 1},
        "hnsw": facts.hnsw,
        **({"simulated": True} if facts.simulated else {}),
    }
    return AnnResult(value, tuple(find_all(Recall(facts.name, mean, threshold, details))), {"ann": details})
