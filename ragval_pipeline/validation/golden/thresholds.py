"""A threshold taken from another model: ``query.threshold_unfit``."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.query.threshold_unfit import RULE as THRESHOLD_UNFIT
from ragval_pipeline.rules.query.threshold_unfit import Details
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.scores import reaches
from ragval_pipeline.text.printing import percent
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import GoldenSet, Reviewed
from ragval_pipeline.validation.paired import fewest_pairs
from ragval_pipeline.validation.query_report import query_results_of
from ragval_pipeline.validation.retrieval.judge import deciding_conditions
from ragval_pipeline.validation.retrieval.outcome import Judged
from ragval_pipeline.validation.thresholds import MOST

#: A query, its verdict and its best score.
_Scored: TypeAlias = tuple[TestQuery, Judged, float]


@dataclass(frozen=True)
class Scores:
    """Best scores of results that are right by page, module or words, and of negative queries."""

    right: Sequence[float]
    negative: Sequence[float]
    higher_is_better: bool = True

    def rejected(self, threshold: float) -> float:
        """Share of right results below the threshold; 0 without any."""
        return _share([not self.reaches(score, threshold) for score in self.right])

    def admitted(self, threshold: float) -> float:
        """Share of negative queries that reach the threshold; 0 without any."""
        return _share([self.reaches(score, threshold) for score in self.negative])

    def reaches(self, score: float, threshold: float) -> bool:
        """Whether a score reaches a threshold."""
        return reaches(score, threshold, higher=self.higher_is_better)


@detector(THRESHOLD_UNFIT, needs=Reviewed)
def _thresholds(reviewed: Reviewed) -> list[Finding]:
    """Judge the thresholds in use: the suite's if any query uses it, and one stated by most queries."""
    golden, rules = reviewed.golden, reviewed.golden.settings.rules
    answered = {entry.query_id: Judged.of(entry) for entry in query_results_of(reviewed.results)}
    if not answered:
        return []
    titles = reviewed.own.get("self_retrieval", {}).get("title_scores", [])
    answered_queries = [(query, answered[query.id]) for query in golden.queries if query.id in answered]
    scored = [(query, entry, best) for query, entry in answered_queries if (best := entry.best_similarity) is not None]
    scores = _scores(scored, rules.higher_is_better, titles)
    used = set(map(rules.threshold, golden.queries))
    subjects = []
    for threshold, negative in sorted(_in_use(golden, scored).items()):
        high = [query.id for query, _, best in scored if query.negative and scores.reaches(best, threshold)]
        subjects += unfit_threshold(threshold, _decided(scores, negative), used, high)
    return subjects


def _decided(scores: Scores, negative: Set[bool]) -> Scores:
    """The scores that a threshold decides on, for negative queries, positive ones, or both."""
    return replace(
        scores, right=scores.right if False in negative else (), negative=scores.negative if True in negative else ()
    )


def _scores(scored: Iterable[_Scored], higher_is_better: bool, titles: Iterable[float] = ()) -> Scores:
    known = list(scored)
    return Scores(
        right=[*titles, *(best for query, entry, best in known if _is_right(query, entry))],
        negative=[best for query, _, best in known if query.negative],
        higher_is_better=higher_is_better,
    )


def _in_use(golden: GoldenSet, scored: Sequence[_Scored]) -> dict[float, set[bool]]:
    """Thresholds of the suite, of most queries or of some that most of these miss; with whether these are negative.

    A query with pages and no threshold of its own has none, unless ``judge`` says so.
    """
    queries_of: dict[float, list[TestQuery]] = {}
    for query in golden.queries:
        if query.negative or "score" in deciding_conditions(query, golden.settings.judge):
            queries_of.setdefault(golden.settings.rules.threshold(query), []).append(query)
    return {
        threshold: {query.negative for query in queries}
        for threshold, queries in queries_of.items()
        if any(query.min_similarity is None for query in queries)
        or 2 * len(queries) > len(golden.queries)
        or unfit_threshold(
            threshold,
            _scores((entry for entry in scored if entry[0] in queries), golden.settings.rules.higher_is_better),
        )
    }


def _is_right(query: TestQuery, answer: Judged) -> bool:
    """Whether a result is right by everything that the query states except its score."""
    if query.negative:
        return False
    states_more = bool(query.grades or query.expected_module or query.expected_chapter or query.expected_results)
    return states_more and {"score"}.issuperset(answer.failed_conditions)


def unfit_threshold(
    threshold: float, scores: Scores, used: Iterable[float] = (), high: Sequence[str] = ()
) -> list[Finding]:
    """The finding if ``threshold`` rejects most right hits, or admits most negative queries.

    ``used`` are the thresholds of all queries: equivalent ones are equally unfit. ``high`` are the negative queries
    that it admits.
    """
    # With fewer, even all of them may be on one side by chance.
    rejected = scores.rejected(threshold) if len(scores.right) >= fewest_pairs() else 0.0
    admitted = scores.admitted(threshold) if len(scores.negative) >= fewest_pairs() else 0.0
    if rejected <= MOST and admitted <= MOST:
        return []
    details = written(Details(rejected, admitted, _quantiles(scores.right), _quantiles(scores.negative)))
    done = [
        f"would reject {percent(rejected)} of {len(scores.right):,} answers on the right page" if scores.right else "",
        f"would accept {percent(admitted)} of {len(scores.negative):,} answers to negative queries"
        if scores.negative
        else "",
    ]
    message = f"The threshold {threshold:g} {' and '.join(filter(None, done))}."
    fits = {Aspect.REACH: rejected <= MOST, Aspect.SELECTION: admitted <= MOST}
    without = frozenset(aspect for aspect, holds in fits.items() if holds)
    measures = {Aspect.REACH: scores.rejected, Aspect.SELECTION: scores.admitted}
    broken = [measure for aspect, measure in measures.items() if aspect not in without]
    alike = tuple(sorted(value for value in set(used) if any(measure(value) > MOST for measure in broken)))
    named = tuple(high) if admitted > MOST else ()
    subject = Subject(name=f"{threshold:g}", details=details, thresholds=alike, without=without, queries=named)
    return [make_finding(THRESHOLD_UNFIT.code, [subject], message=message)]


def _quantiles(scores: Sequence[float]) -> dict[str, float] | None:
    if not scores:
        return None
    ordered = sorted(scores)
    return {
        "n": len(ordered),
        "min": ordered[0],
        "p10": ordered[int(0.10 * (len(ordered) - 1))],  # definition
        "median": statistics.median(ordered),
        "p90": ordered[int(0.90 * (len(ordered) - 1))],  # definition
        "max": ordered[-1],
    }


def _share(holds: Sequence[bool]) -> float:
    return sum(holds) / len(holds) if holds else 0.0
