"""How long embedding and search take, with the budget.

What lives here: the plot. What does not: timing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.plots.svg import as_svg, colour, drawing

if TYPE_CHECKING:
    from markupsafe import Markup

#: A budget this many times the slowest call is told in words: drawn, it would press the rest into a corner.
_FAR = 4


@dataclass(frozen=True)
class Span:
    """Milliseconds of one part of a search: median, p95 and the slowest call."""

    name: str
    p50: float
    p95: float
    slowest: float


def spans_of(latency: Mapping[str, Any]) -> list[Span]:
    """The spans of the report's section ``latency``; empty when nothing was timed."""
    names = {"embedding_ms": "embedding", "search_ms": "search", "total_ms": "both"}
    found = [(label, latency.get(key)) for key, label in names.items()]
    return [
        Span(label, part["p50"], part["p95"], part["max"])
        for label, part in found
        if isinstance(part, Mapping) and part.get("p50") is not None
    ]


def budget_is_near(spans: Sequence[Span], budget_ms: float) -> bool:
    """Whether the budget is drawn."""
    return budget_ms <= _FAR * max(span.slowest for span in spans)


def latency_plot(spans: Sequence[Span], budget_ms: float | None, *, title: str) -> Markup:
    """A bar from zero to p95 for each part, with a mark at the median and a thin line to the slowest call.

    Args:
        spans: At least one.
        budget_ms: p95 that is allowed, or null.
        title: What a screen reader says instead of the picture.
    """
    with drawing(0.75 + 0.38 * len(spans), name="latency") as (figure, axes):
        axis = axes[0]
        rows = range(len(spans))
        axis.barh(rows, [span.p95 for span in spans], 0.5, color=colour("fill"))
        axis.hlines(
            rows, [span.p95 for span in spans], [span.slowest for span in spans], colour("muted"), linewidth=1.4
        )
        axis.scatter([span.p50 for span in spans], rows, marker="|", s=190, color=colour("text"), linewidth=2, zorder=3)
        axis.set_yticks(rows, [span.name for span in spans])
        axis.tick_params(axis="y", length=0)
        axis.invert_yaxis()
        axis.set_xlim(left=0)
        axis.set_xlabel("milliseconds")
        if budget_ms is not None and budget_is_near(spans, budget_ms):
            axis.axvline(budget_ms, color=colour("text"), linewidth=1.4, linestyle=(0, (4, 3)))
        return as_svg(figure, title=title)
