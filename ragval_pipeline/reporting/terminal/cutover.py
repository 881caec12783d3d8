"""Output of ``ragval compare --with``: two indexes of one site side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from ragval_pipeline.reporting.history.compare import RunComparison, comparison_json, power_words
from ragval_pipeline.reporting.terminal.lines import LinePrinter
from ragval_pipeline.reporting.terminal.runs import MOST_NAMED, render_comparison
from ragval_pipeline.text.printing import percent
from ragval_pipeline.validation.regression.neighbours import NEIGHBOURS, KeptNeighbours, smallest_loss

if TYPE_CHECKING:
    from rich.console import Console


class Compared(Protocol):
    """What is shown: the comparison as between two runs, and the neighbours that pages keep."""

    @property
    def comparison(self) -> RunComparison:
        """The two validations."""

    @property
    def neighbours(self) -> KeptNeighbours:
        """The neighbours."""


def render_cutover(cutover: Compared, console: Console) -> None:
    """Print what the other index lacks or adds, what questions can tell, then the comparison as between runs."""
    printer = LinePrinter(console)
    changes, neighbours = cutover.comparison.changes, cutover.neighbours
    lost, won = changes.pages_missing, changes.pages_indexed
    printer.line(("Pages", "bold"), (f"  {len(lost):,} lost, {len(won):,} won", "red" if lost else "dim"))
    _named(printer, "lost", lost)
    _named(printer, "won", won)
    if neighbours.mean is not None:
        sentence = f"{percent(neighbours.mean)} of the {NEIGHBOURS} nearest pages of {neighbours.pages:,} pages"
        printer.line(("Neighbours kept", "bold"), (f"  {sentence}", "dim"))
        for page, share in neighbours.moved[:MOST_NAMED]:
            printer.line((f"{percent(share)}  {page}", ""), indent=2)
    printer.line(
        ("What these questions can show", "bold"),
        (f"  {power_words(len(cutover.comparison.answers.pairing.same))}", "dim"),
    )
    printer.line()
    render_comparison(cutover.comparison, console)


def cutover_json(cutover: Compared) -> dict[str, Any]:
    """The comparison as JSON values, with the neighbours and the smallest loss that the questions can show."""
    asked = len(cutover.comparison.answers.pairing.same)
    changes = cutover.comparison.changes
    return {
        **comparison_json(cutover.comparison),
        "pages_lost": list(changes.pages_missing),
        "pages_won": list(changes.pages_indexed),
        "neighbours": asdict(cutover.neighbours),
        "smallest_loss": smallest_loss(asked),
    }


def _named(printer: LinePrinter, kind: str, pages: Sequence[str]) -> None:
    for page in pages[:MOST_NAMED]:
        printer.line((page, ""), lead=f"  {kind}  ")
    if len(pages) > MOST_NAMED:
        printer.line((f"and {len(pages) - MOST_NAMED:,} more", "dim"), indent=4)
