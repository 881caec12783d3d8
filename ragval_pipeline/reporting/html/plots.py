"""The plots of report.html: ranks, scores and lengths of this run, and criteria over runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.corpus import Corpus
from ragval_pipeline.reporting.history.model import RunHistory
from ragval_pipeline.reporting.html.charts import (
    ScoreLane,
    lengths_chart,
    ranks_chart,
    scores_chart,
    sparkline,
)
from ragval_pipeline.reporting.html.questions import QueryRow
from ragval_pipeline.reporting.numbers import show_measured
from ragval_pipeline.reporting.questions import score_range
from ragval_pipeline.rules.chunk.over_model_limit import RULE as OVER_MODEL_LIMIT
from ragval_pipeline.rules.chunk.over_model_limit import Whole
from ragval_pipeline.rules.details import read
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.printing import plural

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragval_pipeline.validation.chunks.token_counts import Limit


#: More thresholds than this are not drawn.
_MOST_THRESHOLDS = 3


def thresholds_of(rows: Sequence[QueryRow]) -> list[float]:
    """The thresholds of queries with a score, in order; empty if too many to draw."""
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None and _best(row) is not None})
    return thresholds if len(thresholds) <= _MOST_THRESHOLDS else []


def score_lanes(rows: Sequence[QueryRow]) -> list[ScoreLane]:
    """The best scores of positive and negative queries, if any."""
    lanes = []
    for name, negative in (("questions", False), ("off-topic questions", True)):
        kind = [row for row in rows if row.negative is negative and row.query.counted and _best(row) is not None]
        if kind:
            passed = [row.query.best_similarity or 0.0 for row in kind if row.query.passed]
            failed = [row.query.best_similarity or 0.0 for row in kind if not row.query.passed]
            lanes.append(ScoreLane(name, passed, failed))
    return lanes


def scores_picture(rows: Sequence[QueryRow]) -> Markup | None:
    """The plot of the best scores; None without scores."""
    lanes, thresholds = score_lanes(rows), thresholds_of(rows)
    if not lanes:
        return None
    said = [f"{plural(len(lane.values), lane.name.removesuffix('s'))} {score_range(lane.values)}" for lane in lanes]
    limits = f"; threshold {', '.join(f'{value:g}' for value in thresholds)}" if thresholds else ""
    return scores_chart(lanes, thresholds, title=f"Best scores: {'; '.join(said)}{limits}")


def ranks_picture(rows: Sequence[QueryRow], top_k: int) -> Markup | None:
    """The plot of the ranks of the right pages; None if no question expects one."""
    asked = [row for row in rows if row.expects and not row.negative and row.query.counted and row.query.top_results]
    if not asked:
        return None
    places = [row.place for row in asked]
    inside = sum(place is not None and place <= top_k for place in places)
    said = f"{inside} of {plural(len(places), 'question')} find the expected page in the top {top_k}"
    return ranks_chart(places, top_k, title=f"Ranks of the right pages: {said}")


def model_limit(bundle: ReportBundle) -> Limit | None:
    """Input limit of the embedding model, the smallest if points name several; None if unknown."""
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.chunks.token_counts import Limit, LimitRules

    too_long = (finding for finding in bundle.findings if finding.code == OVER_MODEL_LIMIT.code)
    measured = [limit for finding in too_long for limit in (read(Whole, finding.details).limits or {}).values()]
    if measured:
        return Limit(int(min(measured)), OVER_MODEL_LIMIT.code)
    profile = get_profile(bundle.report.profile)
    return LimitRules(
        max_input_tokens=bundle.setting("embedding", "max_input_tokens"),
        collection=bundle.manifest.facts.metadata if bundle.manifest else None,
        profile=profile.max_input_tokens if profile else None,
        model=bundle.report.environment.get("embedding_model"),
    ).of(None)


def lengths_picture(corpus: Corpus, limit: Limit | None) -> Markup | None:
    """The plot of the lengths of chunks; None without any."""
    if not corpus.lengths:
        return None
    tokens = limit.tokens if limit and corpus.unit != "characters" else None
    told = f"Lengths of {plural(len(corpus.lengths), 'chunk')}. {lengths_sentence(corpus, limit)}"
    return lengths_chart(corpus.lengths, tokens, unit=corpus.unit, title=told)


def lengths_sentence(corpus: Corpus, limit: Limit | None) -> str:
    """How many chunks exceed the model's limit."""
    if limit is None:
        return "The token limit of the embedding model is not known."
    if limit.tokens is None:
        return "The embedding model reads texts of any length."
    if corpus.unit == "characters":
        return f"The model reads {limit.tokens:,} tokens; the chunks' tokens were not counted."
    over = sum(count > limit.tokens for count in corpus.lengths)
    return f"The model reads {limit.tokens:,} tokens: {plural(over, 'chunk')} of {len(corpus.lengths):,} are longer."


def _best(row: QueryRow) -> float | None:
    best = row.query.best_similarity
    return best if best is not None and math.isfinite(best) else None


#: Maximum runs plotted.
MOST_RUNS = 30
#: A value without a gate is neither good nor bad, and times differ from run to run.
_COLOURS = {"good": "good", "bad": "bad", "warning": "warning"}


def sparklines(history: RunHistory | None, tones: Mapping[str, str]) -> dict[str, Markup]:
    """The line of every criterion with a value, by name; none with fewer than two runs.

    ``tones`` are the styles of their newest values.
    """
    if history is None or len(history.runs) < 2:
        return {}
    shown = replace(history, runs=history.runs[-MOST_RUNS:])
    return {name: _sparkline(name, shown, tones.get(name, "plain")) for name in shown.criteria()}


def _sparkline(name: str, history: RunHistory, tone: str) -> Markup:
    values = history.values(name)
    known = [value for value in values if value is not None]
    newest = history.runs[-1].criteria.get(name)
    low, high, now = (show_measured(name, value) for value in (min(known), max(known), values[-1]))
    span = low if low == high else f"{low} to {high}"
    title = f"{criterion_name(name)} over {len(values)} runs: {span}, now {now}"
    return sparkline(values, newest.threshold if newest else None, _COLOURS.get(tone, "muted"), title=title)
