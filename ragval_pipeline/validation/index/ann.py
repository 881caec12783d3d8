"""Recall of the default search against the exact one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.index.low_ann_recall import RULE as LOW_ANN_RECALL
from ragval_pipeline.sources.search.searchers import Probe
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import OVERSAMPLING, Hit, Quantization
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.belonging import ByPartition, Partitions
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
        without_quantization: With the original vectors alone; None: not tried.
        rescored: With candidates found by quantized vectors and compared again by the original ones; None: not tried.
        by_filter: Under each filter that queries use.
    """

    collection: str
    mean: float
    threshold: float
    details: dict[str, Any]
    without_quantization: float | None = None
    rescored: float | None = None
    by_filter: Mapping[str, float] = field(default_factory=dict)

    @property
    def lost_by_quantization(self) -> bool:
        """Whether searches with the original vectors reach the threshold."""
        return self.without_quantization is not None and self.without_quantization >= self.threshold


@detector(LOW_ANN_RECALL, needs=Recall)
def find_low_recall(recall: Recall) -> Iterator[Finding]:
    """Recall below the suite's threshold, of all searches or under a filter that queries use."""
    low = {words: share for words, share in recall.by_filter.items() if share < recall.threshold}
    if recall.mean < recall.threshold:
        needed = percent(recall.threshold)
        message = f"The default search returns {percent(recall.mean)} of the exact hits (required: {needed})."
        cause, remedy = _of_quantization(recall) if recall.lost_by_quantization else (None, None)
        yield make_finding(
            LOW_ANN_RECALL.code,
            [recall.collection],
            details=recall.details,
            message=message,
            cause=cause,
            remedy=remedy,
        )
    elif low:
        examples = ", ".join(
            f"{percent(share)} ({words})" for words, share in sorted(low.items(), key=lambda each: each[1])
        )
        yield make_finding(
            LOW_ANN_RECALL.code,
            [recall.collection],
            details=recall.details,
            message=f"Under filters of queries the default search returns less than {percent(recall.threshold)} of "
            f"the exact hits: {examples}.",
            cause="Without a filter it returns enough of them. Points that pass a filter are linked to each other only "
            "if its field had a payload index when HNSW was built.",
            remedy="Create a payload index for each field of these filters, and build HNSW again; or search with a "
            "larger hnsw_ef.",
        )


def _of_quantization(recall: Recall) -> tuple[str, str]:
    assert recall.without_quantization is not None
    cause = (
        "Searches compare quantized vectors: with the original ones alone they return "
        f"{percent(recall.without_quantization)} of the exact hits."
    )
    if recall.rescored is not None and recall.rescored >= recall.threshold:
        return cause, (
            f"Search with quantization.rescore: true and quantization.oversampling: {OVERSAMPLING:g}, which returns "
            f"{percent(recall.rescored)} here."
        )
    return cause, "Use a quantization that keeps more of each vector, or search with quantization.ignore: true."


@dataclass(frozen=True)
class AnnResult:
    """``ann_recall`` with its finding and its section of the report."""

    value: MeasuredValue
    findings: tuple[Finding, ...]
    section: dict[str, Any]
    by_partition: ByPartition = field(default_factory=dict)


def measure_ann(
    probes: Sequence[Probe],
    facts: CollectionFacts,
    vector: VectorFacts,
    *,
    threshold: float,
    again: Callable[[Quantization], Sequence[Probe]] | None = None,
    partitions: Partitions | None = None,
    under_filters: Mapping[str, Sequence[Probe]] | None = None,
) -> AnnResult:
    """Mean recall over all probes, over those of each partition, and of the searches under each filter in words.

    Below ``threshold`` it is a finding. ``again`` searches with another use of quantized vectors, to find out whether
    they are the cause, and whether the advice helps.
    """
    recalls = _recalls(probes, vector)
    value = _value([share for _, share in recalls])
    if value.value is None:
        return AnnResult(value, (), {})
    mean = value.value
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
    by_filter = {
        words: sum(share for _, share in shares) / len(shares)
        for words, some in (under_filters or {}).items()
        if (shares := _recalls(some, vector))
    }
    if by_filter:
        details |= {"by_filter": {words: round(share, 4) for words, share in by_filter.items()}}
    measured = Recall(facts.name, mean, threshold, details, by_filter=by_filter)
    if again is not None and facts.quantized and mean < threshold:
        tried = {
            how: sum(share for _, share in shares) / len(shares)
            for how in get_args(Quantization)
            if (shares := _recalls(again(how), vector))
        }
        details |= {"quantization": {how: round(share, 4) for how, share in tried.items()}}
        measured = replace(measured, without_quantization=tried.get("ignored"), rescored=tried.get("rescored"))
    return AnnResult(value, tuple(find_all(measured)), {"ann": details}, _by_partition(recalls, partitions))


def _value(shares: Sequence[float]) -> MeasuredValue:
    if not shares:
        return not_measured(CRITERION, "no_data", "no search returned a hit")
    total = sum(shares)
    return MeasuredValue(
        name=CRITERION,
        value=total / len(shares),
        numerator=total,
        denominator=len(shares),
        reason=f"mean over {plural(len(shares), 'search')}",
    )


def _by_partition(recalls: Sequence[tuple[Probe, float]], partitions: Partitions | None) -> ByPartition:
    def of(entry: tuple[Probe, float]) -> Collection[str]:
        assert partitions is not None
        probe, _ = entry
        return partitions.of_query(probe.name) if probe.kind == "query" else partitions.of_point(probe.name)

    grouped = partitions.grouped(recalls, of) if partitions else {}
    return {value: (_value([share for _, share in own]),) for value, own in grouped.items()}


def _recalls(probes: Sequence[Probe], vector: VectorFacts) -> list[tuple[Probe, float]]:
    """The recall of each probe whose exact search returns something."""
    return [
        (probe, share)
        for probe in probes
        if (share := recall(probe.exact, probe.default, higher_is_better=vector.higher_is_better)) is not None
    ]
