"""The summary that ``ragval run`` and ``ragval demo`` print.

What lives here: the verdict, and the order of the parts. What does not: the criteria (``terminal_criteria``), the
findings (``terminal_findings``), making text fit for the terminal (``terminal_lines``) and progress bars (``cli``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragval_pipeline.reporting.numbers import show_seconds
from ragval_pipeline.reporting.outline import drafts_of, headline, spent_words, verdict_words
from ragval_pipeline.reporting.terminal_criteria import CriteriaPrinter
from ragval_pipeline.reporting.terminal_findings import FindingsPrinter
from ragval_pipeline.reporting.terminal_lines import SIGNS, STYLES, LinePrinter
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from rich.console import Console


def render_summary(report: ValidationReport, console: Console, *, report_path: str | None) -> None:
    """Print the verdict, the criteria, the findings and where the report is.

    Args:
        report: The run.
        console: Where to print; its width, colours and encoding are respected.
        report_path: Path of ``report.html``, or null when none was written.
    """
    printer = LinePrinter(console)
    _verdict(printer, report)
    CriteriaPrinter(console).criteria(report)
    FindingsPrinter(console).findings(report)
    if report_path is not None:
        printer.line(("Report: ", "bold"), (report_path, ""), wrap=False)


def _verdict(printer: LinePrinter, report: ValidationReport) -> None:
    word = verdict_words(report).upper()
    printer.line()
    printer.line((f"{SIGNS[report.verdict]} {word}  ", f"bold {STYLES[report.verdict]}"), (report.suite, "bold"))
    printer.line((headline(report), ""), indent=2)
    chunks, counted, drafts = report.quality_metrics.total_chunks, report.total_queries, len(drafts_of(report))
    parts = [
        f"collection {report.collection_name}",
        *([plural(chunks, "chunk")] if chunks is not None else []),
        *([plural(counted, "query")] if counted or (counted == 0 and not drafts) else []),
        *([plural(drafts, "draft query")] if drafts else []),
        show_seconds(report.duration_seconds),
        *([spent] if (spent := spent_words(report)) else []),
    ]
    printer.line((" · ".join(parts), "dim"), indent=2)
    printer.line()
