"""Geometry of the report's pictures: where bars, dots and marks stand, in percent of their frame.

What lives here: numbers to positions. What does not: markup and colours (``templates``). Positions in percent keep
labels readable at any width, without a script.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

_BINS = 40
_HIGHEST_STACK = 12


@dataclass(frozen=True)
class Mark:
    """A labelled place on the axis; ``at`` is percent from the left. ``side`` says where its label has room."""

    at: float
    label: str

    @property
    def side(self) -> Literal["start", "middle", "end"]:
        """Labels near an edge must not leave the frame."""
        return "start" if self.at < 12 else "end" if self.at > 88 else "middle"


@dataclass(frozen=True)
class Bar:
    """A bar from the axis upwards; ``left``, ``width`` and ``height`` in percent."""

    left: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Dot:
    """One value: ``left`` in percent, ``level`` dots above the axis."""

    left: float
    level: int
    good: bool
    title: str


@dataclass(frozen=True)
class Score:
    """One query's best score."""

    value: float
    good: bool
    title: str


@dataclass(frozen=True)
class Lane:
    """The scores of one kind of query: dots when they are few, bars when they are many."""

    name: str
    count: int
    dots: list[Dot] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    levels: int = 0


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers shown from left to right."""

    low: float
    high: float
    step: float

    def at(self, value: float) -> float:
        """Percent from the left; values outside stand at the edge."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 3)

    def ticks(self) -> list[Mark]:
        """A labelled mark every ``step``."""
        count = round((self.high - self.low) / self.step)
        values = [self.low + index * self.step for index in range(count + 1)]
        return [Mark(self.at(value), f"{round(value, 6):,g}") for value in values]


@dataclass(frozen=True)
class Histogram:
    """How often values occur."""

    axis: Axis
    bars: list[Bar]
    highest: int


def axis_over(values: Sequence[float], *, most_ticks: int = 6) -> Axis:
    """An axis with round ends and steps that holds all ``values``."""
    low, high = min(values), max(values)
    step = _round_step((high - low) / most_ticks or abs(high) or 1.0)
    start, end = math.floor(low / step) * step, math.ceil(high / step) * step
    return Axis(start, end if end > start else start + step, step)


def histogram(values: Sequence[float], noun: str) -> Histogram:
    """The distribution of at least one value."""
    axis = axis_over(values)
    bars, highest = _bars(values, axis, _BINS, noun)
    return Histogram(axis, bars, highest)


def lane(name: str, scores: Sequence[Score], axis: Axis) -> Lane:
    """Scores on ``axis``, one above the other where they fall together."""
    stacks: Counter[int] = Counter()
    dots = []
    for score in sorted(scores, key=lambda score: (score.value, score.title)):
        place = min(int(axis.at(score.value) / 100 * _BINS), _BINS - 1)
        dots.append(Dot(round((place + 0.5) * 100 / _BINS, 3), stacks[place], score.good, score.title))
        stacks[place] += 1
    levels = max(stacks.values(), default=0)
    if levels <= _HIGHEST_STACK:
        return Lane(name, len(scores), dots=dots, levels=levels)
    bars, _ = _bars([score.value for score in scores], axis, _BINS, "query")
    return Lane(name, len(scores), bars=bars, levels=_HIGHEST_STACK)


def _bars(values: Sequence[float], axis: Axis, bins: int, noun: str) -> tuple[list[Bar], int]:
    from ragval_pipeline.reporting.numbers import plural

    width = (axis.high - axis.low) / bins
    counts = Counter(min(max(int((value - axis.low) / width), 0), bins - 1) for value in values)
    highest = max(counts.values())
    bars = [
        Bar(
            left=round(place * 100 / bins, 3),
            width=round(100 / bins, 3),
            height=round(max(100 * count / highest, 1.5), 2),
            title=f"{axis.low + place * width:,.4g} to {axis.low + (place + 1) * width:,.4g}: {plural(count, noun)}",
        )
        for place, count in sorted(counts.items())
    ]
    return bars, highest


def _round_step(step: float) -> float:
    """The next of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))
