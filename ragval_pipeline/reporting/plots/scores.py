"""The best scores of positive and negative queries, with the thresholds in them.

What lives here: the plot. What does not: choosing scores and thresholds (``reporting/score_view``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.plots.svg import as_svg, colour, drawing

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_BINS = 48
#: More scores than this one above the other become bars.
_HIGHEST_STACK = 9


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


def score_plot(lanes: Sequence[ScoreLane], thresholds: Sequence[float], *, title: str) -> Markup:
    """A lane for each kind of query, a dashed line for each threshold.

    Args:
        lanes: At least one, each with at least one finite score.
        thresholds: At most a few.
        title: What a screen reader says instead of the picture.
    """
    low, high = _range([value for lane in lanes for value in lane.values] + list(thresholds))
    with drawing(0.55 + 0.95 * len(lanes), len(lanes), name="scores") as (figure, axes):
        for lane, axis in zip(lanes, axes, strict=True):
            _lane(axis, lane, low, high)
            for threshold in thresholds:
                axis.axvline(threshold, color=colour("text"), linewidth=1.4, linestyle=(0, (4, 3)), zorder=3)
        axes[-1].set_xlim(low, high)
        axes[-1].set_xlabel("best score of a query")
        return as_svg(figure, title=title)


def _lane(axis: Axes, lane: ScoreLane, low: float, high: float) -> None:
    axis.set_yticks([])
    axis.set_ylim(0, 1)
    axis.text(0.0, 1.0, f"{lane.name} ({len(lane.values)})", transform=axis.transAxes, va="top", color=colour("muted"))
    stacks = _stacks(lane, low, high)
    tallest = max(sum(counts) for counts in stacks.values())
    width = (high - low) / _BINS
    if tallest > _HIGHEST_STACK:
        _bars(axis, stacks, low, width, tallest)
    else:
        _dots(axis, stacks, low, width)


def _stacks(lane: ScoreLane, low: float, high: float) -> dict[int, tuple[int, int]]:
    """Place of a bin to the number of its passed and failed scores."""

    def places(values: Sequence[float]) -> Counter[int]:
        return Counter(min(int((value - low) / (high - low) * _BINS), _BINS - 1) for value in values)

    passed, failed = places(lane.passed), places(lane.failed)
    return {place: (passed[place], failed[place]) for place in sorted(passed.keys() | failed.keys())}


def _dots(axis: Axes, stacks: dict[int, tuple[int, int]], low: float, width: float) -> None:
    """One dot a score; those that failed are squares on their edge, so that colour is not all that tells."""
    for index, (marker, shade, size) in enumerate((("o", "good", 34), ("D", "bad", 26))):
        spots = [
            (low + (place + 0.5) * width, 0.07 + 0.088 * (level + (counts[0] if index else 0)))
            for place, counts in stacks.items()
            for level in range(counts[index])
        ]
        if spots:
            xs, ys = zip(*spots, strict=True)
            axis.scatter(xs, ys, s=size, marker=marker, color=colour(shade), linewidth=0, clip_on=False)


def _bars(axis: Axes, stacks: dict[int, tuple[int, int]], low: float, width: float, tallest: int) -> None:
    lefts = [low + place * width for place in stacks]
    passed = [0.8 * counts[0] / tallest for counts in stacks.values()]
    failed = [0.8 * counts[1] / tallest for counts in stacks.values()]
    axis.bar(lefts, passed, width, align="edge", color=colour("good"), edgecolor=colour("card"), linewidth=0.6)
    if any(failed):
        axis.bar(
            lefts, failed, width, passed, align="edge", color=colour("bad"), edgecolor=colour("card"), linewidth=0.6,
            hatch="////",
        )  # fmt: skip


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - margin, high + margin
