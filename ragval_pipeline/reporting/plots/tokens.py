"""How many tokens the chunks have, with what the model reads of them.

What lives here: the plot. What does not: counting tokens and finding out the limit.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.plots.svg import as_svg, colour, drawing

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_BINS = 40
#: A longest chunk this many times the median would press all others into a few bars.
_SKEWED = 12


def token_plot(counts: Sequence[int], limit: int | None, *, title: str) -> Markup:
    """A histogram of token counts; what lies above the model's limit is drawn as bad.

    Args:
        counts: At least one.
        limit: Tokens that the model reads, or null.
        title: What a screen reader says instead of the picture.
    """
    with drawing(2.3, name="tokens") as (figure, axes):
        edges = _edges(counts, limit)
        _draw(axes[0], counts, edges, limit)
        if edges[-1] - edges[-2] > 1.5 * (edges[1] - edges[0]):
            _logarithmic(axes[0])
        return as_svg(figure, title=title)


def _edges(counts: Sequence[int], limit: int | None) -> list[float]:
    low, high = min(counts), max(counts) + 1
    # A limit far beyond every chunk is told in words: it would press them to the left.
    if limit is not None and limit <= 2 * high:
        high = max(high, limit + 1)
    if low > 0 and high > _SKEWED * statistics.median(counts):
        ratio = math.log(high / low) / _BINS
        return [low * math.exp(ratio * place) for place in range(_BINS + 1)]
    return [low + (high - low) * place / _BINS for place in range(_BINS + 1)]


def _draw(axis: Axes, counts: Sequence[int], edges: list[float], limit: int | None) -> None:
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    heights, _ = np.histogram(counts, edges)
    over = [limit is not None and left >= limit for left in edges[:-1]]
    colours = [colour("bad" if is_over else "fill") for is_over in over]
    axis.bar(edges[:-1], heights, np.diff(edges), align="edge", color=colours, edgecolor=colour("card"), linewidth=0.6)
    axis.set_ylabel("chunks")
    axis.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axis.set_xlabel("tokens of a chunk, as stored")
    if limit is not None and edges[0] <= limit <= edges[-1]:
        axis.axvline(limit, color=colour("text"), linewidth=1.4, linestyle=(0, (4, 3)))


def _logarithmic(axis: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
