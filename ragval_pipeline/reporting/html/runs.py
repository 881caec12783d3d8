"""The runs before: a small line over runs beside each criterion, and the runs themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.history.model import RunHistory, RunPoint
from ragval_pipeline.reporting.html.charts import sparkline
from ragval_pipeline.reporting.numbers import show_measured
from ragval_pipeline.suite.criteria import criterion_name

if TYPE_CHECKING:
    from markupsafe import Markup

#: Criteria and runs of one page: more lines are no picture any more.
MOST_CRITERIA = 10
MOST_RUNS = 30
#: A value without a gate has no good or bad side, and times differ from run to run anyway.
_COLOURS = {"good": "good", "bad": "bad", "warning": "warning"}


@dataclass(frozen=True)
class Trend:
    """One criterion over runs.

    Args:
        name: The criterion.
        title: Its name for people.
        plot: Its line.
        now: Its newest value, with its unit.
        span: Its lowest and highest value over all runs shown.
    """

    name: str
    title: str
    plot: Markup
    now: str
    span: str


@dataclass(frozen=True)
class TrendView:
    """The trends, and the runs that they are made of, newest first."""

    trends: list[Trend]
    runs: list[RunPoint]
    baseline: str | None


def trend_view(history: RunHistory | None, tones: Mapping[str, str]) -> TrendView | None:
    """The trends of a suite; null with fewer than two runs.

    Args:
        history: The runs.
        tones: Criterion to the look of its newest value.
    """
    if history is None or len(history.runs) < 2:
        return None
    shown = replace(history, runs=history.runs[-MOST_RUNS:])
    trends = [_trend(name, shown, tones.get(name, "plain")) for name in _chosen(shown)]
    return TrendView(trends, list(reversed(shown.runs)), history.baseline)


def sparklines(history: RunHistory | None, tones: Mapping[str, str]) -> dict[str, Markup]:
    """The line of every criterion that has a value, by its name; none with fewer than two runs."""
    if history is None or len(history.runs) < 2:
        return {}
    shown = replace(history, runs=history.runs[-MOST_RUNS:])
    names = [name for name in shown.criteria() if any(value is not None for value in shown.values(name))]
    return {name: _trend(name, shown, tones.get(name, "plain")).plot for name in names}


def _chosen(history: RunHistory) -> list[str]:
    """Required criteria first, then those that moved, then the rest, each in report order."""
    newest = history.runs[-1].criteria

    def weight(name: str) -> tuple[bool, bool]:
        required = name in newest and newest[name].required
        return not required, len(set(history.values(name)) - {None}) == 1

    return sorted(history.criteria(), key=weight)[:MOST_CRITERIA]


def _trend(name: str, history: RunHistory, tone: str) -> Trend:
    values = history.values(name)
    known = [value for value in values if value is not None]
    newest = history.runs[-1].criteria.get(name)
    low, high, now = (show_measured(name, value) for value in (min(known), max(known), values[-1]))
    span = low if low == high else f"{low} to {high}"
    title = f"{criterion_name(name)} over {len(values)} runs: {span}, now {now}"
    plot = sparkline(values, newest.threshold if newest else None, _COLOURS.get(tone, "muted"), title=title)
    return Trend(name, criterion_name(name), plot, now, span)
