"""The plots of report.html as inline SVG: lengths, ranks, scores, trends and the strip of pages.

Each has a title for screen readers and takes its colours from the page, so that it fits light and dark mode. A unit is
a pixel at the width of a phone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.validation.thresholds import ROUNDING

if TYPE_CHECKING:
    from markupsafe import Markup

_WIDTH = 360
_LEFT, _RIGHT = 34, 10
_BINS = 36
#: A longest chunk this many times the median would squeeze all others into a few bars.
_SKEWED = 12
#: Readable distances of ticks.
_ROUND = (1, 2, 5, 10)
#: More scores than this at the same position become bars.
_HIGHEST_STACK = 9
#: Cells of a strip; with more pages several share a cell, which shows the worst of them.
MOST_CELLS = 200


@dataclass(frozen=True)
class ScoreLane:
    """The best scores of one kind of query: of those that passed, and of those that did not."""

    name: str
    passed: Sequence[float]
    failed: Sequence[float]

    @property
    def values(self) -> list[float]:
        """All scores."""
        return [*self.passed, *self.failed]


@dataclass(frozen=True)
class Cell:
    """One page of a strip: its style (``good``, ``warning``, ``bad``, ``none``) and label."""

    tone: str
    title: str


def lengths_chart(counts: Sequence[int], limit: int | None, *, unit: str, title: str) -> Markup:
    """A histogram of chunk lengths, at least one; the part above the model's limit is hatched red.

    ``title`` is for screen readers, as in all plots.
    """
    edges, logarithmic = _edges(counts, limit)
    heights = np.histogram(counts, edges)[0].tolist()
    low, high, tallest, floor = edges[0], edges[-1], max(heights), 150
    place = _Scale(low, high, logarithmic=logarithmic)
    parts = [_grid(_ticks(0, tallest, 3), lambda value: floor - 130 * value / tallest)]
    for left, right, height in zip(edges, edges[1:], heights, strict=False):
        if height:
            tone = "over" if limit is not None and left >= limit else "fill"
            top = max(130 * height / tallest, 1.5)
            parts.append(_bar(place(left), floor - top, place(right) - place(left) - 0.8, top, tone))
    parts.append(_axis(floor, _lengths_ticks(low, high, logarithmic=logarithmic), place))
    if limit is not None and low <= limit <= high:
        x = place(limit)
        anchor = "end" if x > _WIDTH - 90 else "start"
        parts.append(_dashed(x, 12, floor))
        parts.append(_text(x + (-4 if anchor == "end" else 4), 20, f"model's limit {limit:,}", anchor, "text"))
    return _svg("lengths", floor + 38, title, [*parts, _label(floor + 34, unit)])


def ranks_chart(ranks: Iterable[int | None], top_k: int, *, title: str) -> Markup:
    """Ranks of the right page, None if not found: a bar for each rank of the top k, then later and not found."""
    known = list(ranks)
    first = [(rank, rank) for rank in range(1, top_k + 1)] if top_k <= 10 else [(1, 1), (2, 5), (6, top_k)]
    later = [(top_k + 1, 10), (11, 50), (51, 10**9)] if top_k < 10 else [(top_k + 1, 50), (51, 10**9)]
    later = [(low, high) for low, high in later if low <= high]
    names = [f"{low}" if low == high else f"{low}-{high}" if high < 10**9 else f"{low}+" for low, high in first + later]
    names.append("none")
    counts = [sum(rank is not None and low <= rank <= high for rank in known) for low, high in first + later]
    counts.append(sum(rank is None for rank in known))
    inside, floor = len(first), 120
    step, tallest = (_WIDTH - 2 * _RIGHT) / len(counts), max(*counts, 1)
    parts = []
    for number, (name, count) in enumerate(zip(names, counts, strict=True)):
        x, top = _RIGHT + number * step, 92 * count / tallest
        tone = "good" if number < inside else "bad" if number == len(counts) - 1 else "warning"
        parts.append(_bar(x + 3, floor - top, step - 6, top, tone) if count else "")
        parts.append(_text(x + step / 2, floor - top - 5, str(count) if count else "", "middle", "text"))
        parts.append(_text(x + step / 2, floor + 15, name, "middle", "muted"))
    edge = _RIGHT + inside * step
    parts += [_line(_RIGHT, floor, _WIDTH - _RIGHT, floor), _dashed(edge, 14, floor)]
    return _svg(
        "ranks", floor + 38, title, [*parts, _label(floor + 34, f"rank of the right page; the top {top_k} count")]
    )


def scores_chart(lanes: Sequence[ScoreLane], thresholds: Sequence[float], *, title: str) -> Markup:
    """A lane for each kind of question, each with a finite score, and a dashed line for each of a few thresholds."""
    values = [value for lane in lanes for value in lane.values] + list(thresholds)
    size, spread = abs(max(values)) or 1.0, max(values) - min(values)
    # Scores that differ by rounding only are one score: no bins fit between them.
    margin = 0.06 * spread if spread > ROUNDING * size else 0.05 * size
    low, high = min(values) - margin, max(values) + margin
    place, parts, floor = _Scale(low, high), [], 0
    for number, lane in enumerate(lanes):
        floor = 86 + 92 * number
        parts.append(_text(_RIGHT, floor - 70, f"{lane.name} ({len(lane.values)})", "start", "muted"))
        parts += _stacked(lane, floor, low, high, place)
        parts.append(_line(_RIGHT, floor, _WIDTH - _RIGHT, floor))
    parts += [_dashed(place(threshold), 8, floor) for threshold in thresholds]
    parts.append(_axis(floor, _ticks(low, high, 5), place))
    return _svg("scores", floor + 38, title, [*parts, _label(floor + 34, "best score per question")])


def sparkline(values: Sequence[float | None], gate: float | None, tone: str, *, title: str) -> Markup:
    """A line over runs, oldest first, with a dot on the newest and a dashed line at the gate.

    At least one value is a number; None is a gap. ``tone`` is the colour of the dot.
    """
    known = [value for value in values if value is not None] + ([] if gate is None else [gate])
    low, high = min(known), max(known)
    margin = 0.15 * (high - low) or 0.1 * (abs(high) or 1.0)
    low, high = low - margin, high + margin
    across = 112 / max(len(values) - 1, 1)
    spots = [None if value is None else (4 + across * at, 26 - 22 * (value - low) / (high - low))
             for at, value in enumerate(values)]  # fmt: skip
    parts = [] if gate is None else [
        f'<path class="muted dash" d="M2 {26 - 22 * (gate - low) / (high - low):.1f}H118"/>'
    ]  # fmt: skip
    drawn = "".join(
        f"{'L' if at and spots[at - 1] else 'M'}{spot[0]:.1f} {spot[1]:.1f}" for at, spot in enumerate(spots) if spot
    )
    parts.append(f'<path class="trend" d="{drawn}"/>')
    if spots[-1]:
        parts.append(f'<circle class="{tone}" cx="{spots[-1][0]:.1f}" cy="{spots[-1][1]:.1f}" r="3.2"/>')
    return _svg("spark", 30, title, parts, width=120)


def strip(cells: Sequence[Cell], *, title: str) -> Markup:
    """One cell per page, in site order: green if complete, amber if partial, red and hatched if missing."""
    from markupsafe import escape

    order = ("bad", "warning", "none", "good")
    size = math.ceil(len(cells) / MOST_CELLS)
    groups = [cells[at : at + size] for at in range(0, len(cells), size)]
    parts = []
    for number, group in enumerate(groups):
        worst = min(group, key=lambda cell: order.index(cell.tone))
        named = worst.title if len(group) == 1 else f"{worst.title} and {len(group) - 1} more"
        tone = "over" if worst.tone == "bad" else worst.tone
        parts.append(
            f'<rect class="{tone}" x="{10 * number}" y="0" width="9.3" height="14">'
            f"<title>{escape(named)}</title></rect>"
        )
    return _svg("strip", 14, title, parts, width=10 * len(groups), stretched=True)


def _edges(counts: Sequence[int], limit: int | None) -> tuple[list[float], bool]:
    low, high = float(min(counts)), float(max(counts) + 1)
    # A limit far beyond every chunk is given in words: it would squeeze them to the left.
    if limit is not None and limit <= 2 * high:
        high = max(high, limit + 1.0)
    if low > 0 and high > _SKEWED * statistics.median(counts):
        return np.geomspace(low, high, _BINS + 1).tolist(), True
    return np.linspace(low, high, _BINS + 1).tolist(), False


class _Scale:
    """Maps values to positions."""

    def __init__(self, low: float, high: float, *, logarithmic: bool = False) -> None:
        self._low, self._high, self._log = low, high, logarithmic

    def __call__(self, value: float) -> float:
        low, high = self._low, self._high
        if self._log:
            share = math.log(max(value, low) / low) / math.log(high / low)
        else:
            share = (value - low) / ((high - low) or 1.0)
        return _LEFT + (_WIDTH - _RIGHT - _LEFT) * share


def _ticks(low: float, high: float, most: int) -> list[float]:
    span = (high - low) or 1.0
    power = 10 ** math.floor(math.log10(span / most))
    step = next(power * size for size in _ROUND if span / (power * size) <= most)
    return [step * at for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _lengths_ticks(low: float, high: float, *, logarithmic: bool) -> list[float]:
    if not logarithmic:
        return _ticks(low, high, 5)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [size * 10.0**power for power in powers for size in (1, 2, 5)]
    return [value for value in found if low <= value <= high][:: 1 if math.log10(high / low) < 2 else 2]


def _stacked(lane: ScoreLane, floor: float, low: float, high: float, place: _Scale) -> list[str]:
    passed, failed = (np.histogram(values, 40, (low, high))[0].tolist() for values in (lane.passed, lane.failed))
    tallest = max(map(sum, zip(passed, failed, strict=True)))
    parts = []
    for at in range(40):
        x = place(low + (at + 0.5) * (high - low) / 40)
        if tallest > _HIGHEST_STACK:
            good, bad = 60 * passed[at] / tallest, 60 * failed[at] / tallest
            parts.append(_bar(x - 3.5, floor - good, 7, good, "good") if good else "")
            parts.append(_bar(x - 3.5, floor - good - bad, 7, bad, "over") if bad else "")
            continue
        for level in range(passed[at] + failed[at]):
            y = floor - 5 - 7.2 * level
            if level < passed[at]:
                parts.append(f'<circle class="good" cx="{x:.1f}" cy="{y:.1f}" r="3.1"/>')
            else:  # a diamond, so that colour is not the only signal
                parts.append(f'<path class="bad" d="M{x - 4:.1f} {y:.1f}l4-4 4 4-4 4z"/>')
    return parts


def _svg(
    kind: str, height: float, title: str, parts: Iterable[str], *, width: int = _WIDTH, stretched: bool = False
) -> Markup:
    from markupsafe import Markup, escape

    more = ' preserveAspectRatio="none"' if stretched else ""
    hatch = (
        f'<defs><pattern id="hatch-{kind}" width="4" height="4" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="soft" width="4" height="4"/>'
        '<rect class="bad" width="2" height="4"/></pattern></defs>'
    )
    content = "".join(parts)
    if 'class="over"' in content:
        content = hatch + content.replace('class="over"', f'class="over" fill="url(#hatch-{kind})"')
    return Markup(  # noqa: S704 built here from numbers and escaped texts
        f'<svg class="drawn {kind}" role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height:g}"{more}>'
        f"<title>{escape(title)}</title>{content}</svg>"
    )


def _bar(x: float, y: float, width: float, height: float, tone: str) -> str:
    return f'<rect class="{tone}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.6):.1f}" height="{height:.1f}"/>'


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path class="axis" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def _dashed(x: float, top: float, floor: float) -> str:
    return f'<path class="text dash" d="M{x:.1f} {top:.1f}V{floor:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, tone: str) -> str:
    from markupsafe import escape

    return f'<text class="{tone}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>' if text else ""


def _label(y: float, text: str) -> str:
    return _text(_WIDTH / 2, y, text, "middle", "muted")


def _grid(ticks: Iterable[float], at: Callable[[float], float]) -> str:
    return "".join(
        f'<path class="grid" d="M{_LEFT} {at(value):.1f}H{_WIDTH - _RIGHT}"/>'
        + _text(_LEFT - 5, at(value) + 4, f"{value:,.0f}", "end", "muted")
        for value in ticks
        if value == int(value)
    )


def _axis(floor: float, ticks: Sequence[float], place: _Scale) -> str:
    marks = "".join(
        f'<path class="axis" d="M{place(value):.1f} {floor}v4"/>'
        + _text(place(value), floor + 16, f"{value:,.10g}", "middle", "muted")
        for value in ticks
        if _LEFT - 1 <= place(value) <= _WIDTH - 4
    )
    return _line(_LEFT, floor, _WIDTH - _RIGHT, floor) + marks
