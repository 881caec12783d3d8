"""Comparing two runs: metrics with their tests, queries won and lost, criteria of the index, corpus changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ragval_pipeline.text.numbers import TOLERANCE
from ragval_pipeline.validation.measurement import MeasuredValue
from ragval_pipeline.validation.paired import (
    ALPHA,
    PairedTest,
    drop_probabilities,
    fewest_pairs,
    paired_test,
)
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.regression.pairing import (
    Pairing,
    RunAnswers,
    Series,
    all_series,
    is_critical,
    pair_queries,
    without_chunk_labels,
)
from ragval_pipeline.validation.regression.turnover import Turnover
from ragval_pipeline.validation.verdict import CriterionResult

INDEX_CRITERIA = (
    "coverage", "source_captured", "content_integrity", "metadata_completeness", "embedding_match", "self_retrieval",
)  # fmt: skip

#: The one of them that is counted among the first ``top_k`` hits.
_RANKED = "self_retrieval"

#: Value of each measured criterion by its name.
Values: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class IndexChange:
    """One criterion of the index in two runs.

    Attributes:
        name: The criterion.
        before: Its value then, 0..1.
        after: Its value now.
        fell: Whether it fell by more than the tolerated drop.
    """

    name: str
    before: float
    after: float
    fell: bool


def measured_values(results: Iterable[CriterionResult | MeasuredValue]) -> dict[str, float]:
    """The values of measured criteria of the index."""
    return {entry.name: entry.value for entry in results if entry.name in INDEX_CRITERIA and entry.value is not None}


def index_changes(before: Values, after: Values, *, tolerated_drop: float) -> list[IndexChange]:
    """The criteria of the index that both runs measured, in a fixed order."""
    return [
        IndexChange(name, before[name], after[name], before[name] - after[name] > tolerated_drop + TOLERANCE)
        for name in INDEX_CRITERIA
        if name in before and name in after
    ]


@dataclass(frozen=True)
class MetricChange:
    """One metric of two runs.

    Attributes:
        metric: Its name, ``query_pass_rate`` or ``ndcg_at_K``.
        test: Means, difference and the paired test.
        p_adjusted: Its p-value, corrected for the metrics tested (max-T).
        exact: Whether ``p_adjusted`` is from all swaps; else from random ones.
        significant: Whether it fell by more than the tolerated drop, and beyond chance.
        worse: Queries that score lower now: id and difference, largest drop first.
        values: Values before, by query id.
        better: Queries that score higher now, the largest gain first.
    """

    metric: str
    test: PairedTest
    p_adjusted: float
    exact: bool
    significant: bool
    worse: Sequence[tuple[str, float]]
    better: Sequence[tuple[str, float]]
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryLoss:
    """A query that passed before and does not now; ``now`` is None if it is not run any more."""

    before: QueryReport
    now: QueryReport | None

    @property
    def query_id(self) -> str:
        """Its id now, or before if it vanished."""
        return (self.now or self.before).query_id

    @property
    def critical(self) -> bool:
        """Whether it is critical now, or was when it vanished."""
        return is_critical(self.now or self.before)


@dataclass(frozen=True)
class Comparison:
    """The differences of two runs in queries and corpus.

    Attributes:
        pairing: The queries of both.
        changes: The metrics that both have.
        lost: Queries that passed before and do not now.
        won: Ids of queries that failed before and pass now.
        turnover: How the corpus changed; None without both snapshots.
        void: Queries left out because their chunks are no longer in the corpus.
        index: Criteria of the index itself that both runs measured.
    """

    pairing: Pairing
    changes: Sequence[MetricChange]
    lost: Sequence[QueryLoss]
    won: Sequence[str]
    turnover: Turnover | None
    void: Sequence[str]
    index: Sequence[IndexChange] = ()

    @property
    def drops(self) -> list[MetricChange]:
        """Metrics that fell beyond chance and tolerance."""
        return [change for change in self.changes if change.significant]

    @property
    def fallen(self) -> list[IndexChange]:
        """Criteria of the index itself that fell beyond tolerance."""
        return [change for change in self.index if change.fell]

    @property
    def lost_critical(self) -> list[QueryLoss]:
        """Lost critical queries."""
        return [loss for loss in self.lost if loss.critical]

    @property
    def too_few(self) -> bool:
        """Whether too few queries have both values for any drop to be significant."""
        return all(change.test.n < fewest_pairs() for change in self.changes)


def compare_answers(
    before: RunAnswers,
    after: RunAnswers,
    *,
    tolerated_drop: float,
    turnover: Turnover | None = None,
    criteria: tuple[Values, Values] = ({}, {}),
) -> Comparison:
    """Compare two runs.

    Args:
        before: The earlier run.
        after: This run.
        tolerated_drop: Drop of a mean or a share, 0..1, that is never a regression.
        turnover: How the corpus changed between them.
        criteria: Values of each run's measured criteria, before and after, by name.
    """
    pairing = pair_queries(before.queries, after.queries)
    void: list[str] = []
    if turnover is not None and turnover.voids_chunk_labels:
        kept = without_chunk_labels(pairing.same)
        void = sorted({new.query_id for _, new in pairing.same} - {new.query_id for _, new in kept})
        pairing = replace(pairing, same=kept)
    return Comparison(
        pairing=pairing,
        changes=_tested(all_series(before, after, pairing), tolerated_drop),
        lost=_lost(pairing),
        won=sorted(new.query_id for old, new in pairing.same if old.passed is False and new.passed is True),
        turnover=turnover,
        void=void,
        index=[
            change
            for change in index_changes(*criteria, tolerated_drop=tolerated_drop)
            if change.name != _RANKED or _same_depth(before.queries, after.queries)
        ],
    )


def _same_depth(before: Iterable[QueryReport], after: Iterable[QueryReport]) -> bool:
    """Whether the suite's ``top_k`` is the same in both runs, as far as their queries tell."""
    earlier, now = (
        {query.held_to.top_k for query in queries if query.held_to and query.query.get("top_k") is None}
        for queries in (before, after)
    )
    return not (earlier and now) or earlier == now


def is_drop(delta: float, p_adjusted: float, tolerated_drop: float) -> bool:
    """Whether a metric fell beyond tolerance and chance."""
    return -delta > tolerated_drop + TOLERANCE and p_adjusted <= ALPHA


def _tested(series: Sequence[Series], tolerated_drop: float) -> list[MetricChange]:
    differences = [entry.differences for entry in series]
    names = sorted({name for column in differences for name in column})
    adjusted, exact = drop_probabilities([[column.get(name, 0.0) for name in names] for column in differences])
    return [_change(entry, p, exact, tolerated_drop) for entry, p in zip(series, adjusted, strict=True)]


def _change(series: Series, p_adjusted: float, exact: bool, tolerated_drop: float) -> MetricChange:
    test = paired_test(list(series.before.values()), [series.after[name] for name in series.before])
    ordered = sorted(series.differences.items(), key=lambda entry: (entry[1], entry[0]))
    return MetricChange(
        metric=series.metric,
        test=test,
        p_adjusted=p_adjusted,
        exact=exact,
        significant=is_drop(test.delta, p_adjusted, tolerated_drop),
        worse=[entry for entry in ordered if entry[1] < -TOLERANCE],
        better=[entry for entry in reversed(ordered) if entry[1] > TOLERANCE],
        values=series.before,
    )


def _lost(pairing: Pairing) -> list[QueryLoss]:
    failing = [QueryLoss(old, new) for old, new in pairing.same if old.passed is True and new.passed is False]
    gone = [QueryLoss(query, None) for query in pairing.vanished if query.passed is True]
    return sorted([*failing, *gone], key=lambda loss: loss.query_id)
