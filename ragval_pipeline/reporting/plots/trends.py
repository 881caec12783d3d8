"""The value of one criterion over runs, as a small line beside its name.

What lives here: the plot. What does not: choosing criteria and runs (``reporting/trend_view``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.plots.svg import as_svg, colour, drawing

if TYPE_CHECKING:
    from markupsafe import Markup

_WIDTH, _HEIGHT = 2.6, 0.42


def trend_plot(values: Sequence[float | None], gate: float | None, tone: str, *, name: str, title: str) -> Markup:
    """A line over runs, oldest first, with a dot on the newest and a dashed line at the gate.

    Args:
        values: At least one that is not null; the line has a gap where one is null.
        gate: What is asked, or null.
        tone: Colour of the newest dot, e.g. ``good``.
        name: Of the criterion.
        title: What a screen reader says instead of the picture.
    """
    known = [value for value in values if value is not None]
    low, high = min([*known, *([] if gate is None else [gate])]), max([*known, *([] if gate is None else [gate])])
    margin = 0.15 * (high - low) or 0.1 * (abs(high) or 1.0)
    with drawing(_HEIGHT, name=f"trend-{name}", width=_WIDTH) as (figure, axes):
        axis = axes[0]
        axis.set_axis_off()
        axis.set_xlim(-0.3, max(len(values) - 1, 1) + 0.3)
        axis.set_ylim(low - margin, high + margin)
        if gate is not None:
            axis.axhline(gate, color=colour("muted"), linewidth=1, linestyle=(0, (3, 3)))
        line = [float("nan") if value is None else value for value in values]
        axis.plot(range(len(line)), line, color=colour("fill"), linewidth=1.8, marker=".", markersize=4)
        if values[-1] is not None:
            axis.plot([len(values) - 1], [values[-1]], "o", color=colour(tone), markersize=6)
        return as_svg(figure, title=title)
