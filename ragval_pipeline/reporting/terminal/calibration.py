"""What ``ragval calibrate`` prints, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.numbers import show_percent
from ragval_pipeline.reporting.terminal.lines import LinePrinter
from ragval_pipeline.validation.calibration import ErrorRates, Proposal, Scores

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 12


def render_proposal(proposal: Proposal, scores: Scores, console: Console) -> None:
    """Print the scores, what each threshold does to them, and the lines to paste."""
    printer = LinePrinter(console)
    printer.line(("Scores of this index", "bold"))
    for name, values in (
        ("positive queries", scores.positive),
        ("negative queries", scores.negative),
        ("pages by their title", scores.own),
    ):
        printer.line((_span(values), ""), lead=f"  {name:22}")
    if proposal.separation is not None:
        about = f"{proposal.separation:.3f}  (AUC: 1 tells all apart, 0.5 none)"
        printer.line((about, ""), lead=f"  {'separation':22}")
    printer.line()
    heads = ("threshold", "lost", "let through", "titles lost")
    printer.line(*((f"{head:>{_WIDTH}}", "dim") for head in heads), indent=2, wrap=False)
    for rates in proposal.table:
        style = "bold green" if rates.note.startswith("proposed") else "bold" if rates.note else ""
        note = f"  {rates.note}" if rates.note else ""
        cells = ((f"{cell:>{_WIDTH}}", style) for cell in _cells(rates))
        printer.line(*cells, (note, style), indent=2, wrap=False)
    printer.line()
    for warning in proposal.warnings:
        printer.line((warning, "yellow"), lead="! ")
    printer.line(("Lines for the suite file", "bold"))
    for line in lines_to_paste(proposal):
        printer.line((line, ""), indent=2, wrap=False)


def lines_to_paste(proposal: Proposal) -> list[str]:
    """The section of the suite file that holds the proposal."""
    return [
        "retrieval:",
        f"  min_similarity: {proposal.min_similarity:g}",
        f"  relevance_similarity: {proposal.relevance_similarity:g}",
    ]


def proposal_json(proposal: Proposal, scores: Scores) -> dict[str, Any]:
    """The proposal and the scores that it rests on, as JSON values."""
    return {
        "min_similarity": proposal.min_similarity,
        "relevance_similarity": proposal.relevance_similarity,
        "separation_auc": proposal.separation,
        "thresholds": [asdict(rates) for rates in proposal.table],
        "scores": {"positive": scores.positive, "negative": scores.negative, "self_retrieval": scores.own},
        "warnings": list(proposal.warnings),
    }


def _span(values: Sequence[float]) -> str:
    if not values:
        return "none"
    middle = len(values) // 2
    median = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
    return f"{len(values):,}: {values[0]:.3f} to {values[-1]:.3f}, median {median:.3f}"


def _cells(rates: ErrorRates) -> list[str]:
    return [f"{rates.threshold:g}", *(show_percent(share) for share in (rates.lost, rates.let_through, rates.own_lost))]
