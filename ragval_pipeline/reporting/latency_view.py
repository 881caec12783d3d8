"""What the report says about latency.

What lives here: choosing figures and the sentence. What does not: drawing (``plots/latency``) and timing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from markupsafe import Markup

CRITERION = "latency_p95_ms"


@dataclass(frozen=True)
class LatencyView:
    """The plot, the p95 in milliseconds that the suite allows (null: none), and whether the plot shows it."""

    plot: Markup
    budget: float | None
    budget_drawn: bool


def latency_view(report: ValidationReport) -> LatencyView | None:
    """Median, p95 and slowest call; null when nothing was timed."""
    from ragval_pipeline.reporting.plots.latency import budget_is_near, latency_plot, spans_of

    budget = next((result.threshold for result in report.criteria if result.name == CRITERION), None)
    spans = spans_of(report.latency)
    if not spans:
        return None
    said = "; ".join(f"{span.name}: median {span.p50:.1f} ms, p95 {span.p95:.1f} ms" for span in spans)
    allowed = "" if budget is None else f"; allowed p95 {budget:,.0f} ms"
    plot = latency_plot(spans, budget, title=f"Latency of single calls. {said}{allowed}")
    return LatencyView(plot, budget, budget is not None and budget_is_near(spans, budget))
