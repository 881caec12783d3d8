"""``regression``: the criterion ``no_regression`` and the ``regression.*`` findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.factory import NAMED, SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.regression.corpus_turnover import RULE as CORPUS_TURNOVER
from ragval_pipeline.rules.regression.query_lost import RULE as QUERY_LOST
from ragval_pipeline.rules.regression.query_lost import Details as Lost
from ragval_pipeline.rules.regression.significant_drop import RULE as SIGNIFICANT_DROP
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, ReasonCode, not_measured
from ragval_pipeline.validation.paired import ALPHA, fewest_pairs
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.regression.compare import Comparison, IndexChange, MetricChange, QueryLoss
from ragval_pipeline.validation.regression.pairing import Pairing
from ragval_pipeline.validation.regression.turnover import Turnover

ASSET = "regression"
CRITERION = "no_regression"
#: The criterion of the index measured by searching: any damage to texts and vectors may lower it.
_ASKED = "self_retrieval"
#: Aspects of the other criteria of the index.
_NOT_COUNTED = frozenset(SIGNIFICANT_DROP.reads - {Aspect.VALUE})


@dataclass(frozen=True)
class Against:
    """A comparison with the baseline."""

    comparison: Comparison
    baseline: str
    collection: str


def measure_regression(
    comparison: Comparison,
    *,
    baseline: str,
    collection: str,
    by_partition: Mapping[str, Comparison] | None = None,
) -> Measurement:
    """The measurement of ``regression``; ``by_partition`` are the comparisons of what belongs to one partition."""
    return Measurement(
        asset=ASSET,
        values=(_value(comparison, baseline),),
        by_partition={value: (_value(own, baseline),) for value, own in (by_partition or {}).items()},
        findings=tuple(find_all(Against(comparison, baseline, collection))),
        sections={ASSET: section(comparison, baseline)},
    )


def no_comparison(reason: str, code: ReasonCode = "not_applicable") -> Measurement:
    """The measurement of a run without a baseline to compare with."""
    return Measurement(asset=ASSET, values=(not_measured(CRITERION, code, reason),))


def section(comparison: Comparison, baseline: str) -> dict[str, Any]:
    """The comparison as JSON values, for evidence, metadata and the comparison of two runs."""
    pairing = comparison.pairing
    return {
        "baseline": baseline,
        "index_criteria": {change.name: index_facts(change) for change in comparison.index},
        "metrics": {change.metric: change_facts(change) for change in comparison.changes},
        "queries": {
            "compared": len(pairing.same),
            "lost": [loss.query_id for loss in comparison.lost],
            "won": list(comparison.won),
            "vanished": sorted(query.query_id for query in pairing.vanished),
            "added": sorted(query.query_id for query in pairing.added),
            "reworded": sorted(new.query_id for _, new in pairing.reworded),
            "restated": sorted(new.query_id for _, new in pairing.restated),
            "set_aside": dict(sorted(pairing.set_aside.items())),
            "void": list(comparison.void),
        },
        "corpus": comparison.turnover.facts() if comparison.turnover else None,
    }


def index_facts(change: IndexChange) -> dict[str, Any]:
    """The change of one criterion of the index as JSON values."""
    delta = change.after - change.before
    return {"before": change.before, "after": change.after, "delta": delta, "significant": change.fell}


def change_facts(change: MetricChange) -> dict[str, Any]:
    """One metric's change as JSON values."""
    test = change.test
    return {
        "n": test.n,
        "before": test.before,
        "after": test.after,
        "delta": test.delta,
        "p": test.p,
        "p_adjusted": change.p_adjusted,
        "exact": change.exact,
        "interval": None if test.interval is None else list(test.interval),
        "effect_size": test.effect_size,
        "wins": test.wins,
        "ties": test.ties,
        "losses": test.losses,
        "significant": change.significant,
        "worse": dict(change.worse[:SHOWN]),
        "better": dict(change.better[:SHOWN]),
    }


def _value(comparison: Comparison, baseline: str) -> MeasuredValue:
    reasons = [*map(_fallen_words, comparison.fallen), *map(_drop_words, comparison.drops)]
    if comparison.lost_critical:
        names = ", ".join(loss.query_id for loss in comparison.lost_critical)
        reasons.append(f"critical queries lost: {names}")
    if reasons:
        return MeasuredValue(name=CRITERION, value=0.0, reason=f"against {baseline}: {'; '.join(reasons)}")
    kept = plural(len(comparison.index), "criterion") if comparison.index else ""
    kept_words = f"{kept} of the index within the tolerated drop" if kept else ""
    if comparison.pairing.none_asked and kept_words:
        return MeasuredValue(name=CRITERION, value=1.0, reason=f"{kept_words} against {baseline}; no query was asked")
    aside = aside_words(comparison.pairing)
    again = f"; {aside}: bless a run with the same requirements" if aside else ""
    if not comparison.changes:
        return not_measured(CRITERION, "no_data", f"no query of {baseline} can be compared with one of this run{again}")
    compared = max(change.test.n for change in comparison.changes)
    needed = fewest_pairs()
    if comparison.too_few:
        message = f"{plural(compared, 'query')} can be compared with {baseline}"
        reason = f"{message}; with fewer than {needed}, no drop is significant"
        return not_measured(CRITERION, "too_few", f"{reason}{again}")
    message = ", ".join(f"{change.metric} {change.test.delta:+.3f}" for change in comparison.changes)
    message = f"{message} over {plural(compared, 'query')} against {baseline}"
    reason = f"{message}; fewer than {needed} losses are never significant"
    return MeasuredValue(name=CRITERION, value=1.0, reason="; ".join(filter(None, (reason, kept_words, aside))))


def aside_words(pairing: Pairing) -> str:
    """How many queries are not compared, and what changed about them; empty if all are."""
    kinds = Counter(words.removeprefix("its ") for words in pairing.set_aside.values())
    told = [f"{count:,} whose {kind}" for kind, count in kinds.most_common(NAMED)]
    rest = len(pairing.set_aside) - sum(count for _, count in kinds.most_common(NAMED))
    told += [f"{rest} more"] if rest else []
    return f"{len(pairing.set_aside):,} set aside, {', '.join(told)}" if told else ""


def _fallen_words(change: IndexChange) -> str:
    return f"{change.name} fell from {percent(change.before, digits=1)} to {percent(change.after, digits=1)}"


def _drop_words(change: MetricChange) -> str:
    test = change.test
    return f"{change.metric} fell from {test.before:.3f} to {test.after:.3f} (p {change.p_adjusted:.2g})"


@detector(SIGNIFICANT_DROP, needs=Against)
def _drops(against: Against) -> Iterator[Finding]:
    comparison, baseline = against.comparison, against.baseline
    for fallen in comparison.fallen:
        yield make_finding(
            SIGNIFICANT_DROP.code,
            [_fallen(fallen)],
            scope=fallen.name,
            details={"baseline": baseline, **index_facts(fallen)},
            message=f"{_fallen_words(fallen)}, which is more than history.tolerated_drop.",
            cause=_cause(comparison.turnover),
            remedy="Compare the two runs with ragval compare: findings by subject, pages and chunks.",
        )
    for change in comparison.drops:
        yield make_finding(
            SIGNIFICANT_DROP.code,
            [_dropped(change)],
            scope=change.metric,
            details={"baseline": baseline, **change_facts(change)},
            message=(
                f"{_drop_words(change)}: {plural(change.test.losses, 'query')} lost, {change.test.wins} won, beyond "
                "chance."
            ),
            cause=_cause(comparison.turnover),
        )


def _fallen(change: IndexChange) -> Subject:
    if change.name == _ASKED:
        return Subject(name=change.name, fell=change.before - change.after, without=frozenset({Aspect.ANSWER}))
    return Subject(name=change.name, without=_NOT_COUNTED)


def _dropped(change: MetricChange) -> Subject:
    queries = sorted(name for name, _ in change.worse)
    values = tuple(change.values[name] for name in queries)
    return Subject(name=change.metric, details={"queries": queries}, queries=tuple(queries), values=values)


def _cause(turnover: Turnover | None) -> str | None:
    """Whether the corpus or the search changed; None if the earlier corpus is unknown."""
    if turnover is None:
        return None
    if turnover.voids_chunk_labels:
        return f"{percent(turnover.share)} of the chunks were replaced: the corpus changed rather than the ranker."
    if turnover.share == 0 and turnover.chunks_added == 0:
        return "No chunk changed. The vectors, the search, the site, the settings or the queries did."
    return (
        f"{plural(turnover.chunks_removed, 'chunk')} removed and {turnover.chunks_added:,} added "
        f"({percent(turnover.share)} of the corpus is gone); the rest is unchanged."
    )


@detector(QUERY_LOST, needs=Against)
def _lost(against: Against) -> Iterator[Finding]:
    plain = [loss for loss in against.comparison.lost if not loss.critical]
    critical = against.comparison.lost_critical
    if critical:
        # Two findings with the same code need a scope.
        finding = _lost_finding(critical, against.baseline, scope="critical" if plain else None)
        yield finding.model_copy(update={"severity": "error"})
    if plain:
        yield _lost_finding(plain, against.baseline, scope=None)


def _lost_finding(lost: Sequence[QueryLoss], baseline: str, *, scope: str | None) -> Finding:
    if any(loss.now is not None for loss in lost):
        return make_finding(QUERY_LOST.code, _subjects(lost), scope=scope, details=_of(baseline))
    count = plural(len(lost), "query")
    return make_finding(
        QUERY_LOST.code,
        _subjects(lost),
        scope=scope,
        details=_of(baseline),
        message=f"{count} passed before and {'is' if len(lost) == 1 else 'are'} not asked any more.",
        cause="The test queries were taken out of the suite.",
        remedy="Put them back, or bless a run with the new queries.",
    )


def _of(baseline: str) -> dict[str, Any]:
    return {"baseline": baseline, "alpha": ALPHA}


def _subjects(lost: Sequence[QueryLoss]) -> list[Subject]:
    return [Subject(name=loss.query_id, details=written(_lost_details(loss))) for loss in lost]


def _lost_details(loss: QueryLoss) -> Lost:
    why = "it is no longer asked" if loss.now is None else loss.now.fail_reason
    return Lost(_hit_facts(loss.before), None if loss.now is None else _hit_facts(loss.now), why)


def _hit_facts(query: QueryReport) -> dict[str, Any]:
    first = query.top_results[0] if query.top_results else None
    return {
        "best_similarity": query.best_similarity,
        "first_chunk": first.chunk_id if first else None,
        "first_page": first.source_url if first else None,
    }


@detector(CORPUS_TURNOVER, needs=Against)
def _turned_over(against: Against) -> Iterator[Finding]:
    turnover = against.comparison.turnover
    if turnover is not None and turnover.voids_chunk_labels:
        details = {"baseline": against.baseline, **turnover.facts(), "void_queries": list(against.comparison.void)}
        yield make_finding(CORPUS_TURNOVER.code, [against.collection], details=details)
