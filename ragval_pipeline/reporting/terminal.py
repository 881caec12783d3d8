"""The summary that ``ragval run`` and ``ragval demo`` print.

What lives here: the lines and their looks on a terminal, in a pipe and without colour. What does not: making text fit
for the terminal (``terminal_lines``) and progress bars (``cli``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.numbers import plural, show_gate, show_seconds, show_value
from ragval_pipeline.reporting.outline import (
    FindingNode,
    count_by_severity,
    finding_tree,
    headline,
    outline_criteria,
    reason_of,
    verdict_words,
)
from ragval_pipeline.reporting.terminal_lines import LinePrinter
from ragval_pipeline.reporting.text import one_line, shorten
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    from rich.console import Console

_SUBJECTS = 3
_STYLES = {
    "pass": "bold green", "fail": "bold red", "error": "bold red", "not_measured": "bold yellow", "met": "green",
    "not_met": "red", "info": "blue", "warning": "yellow",
}  # fmt: skip
_SIGNS = {
    "pass": "✓", "fail": "✗", "error": "✗", "not_measured": "○", "met": "✓", "not_met": "✗", "warning": "!",
    "info": "·", "shown": "·",
}  # fmt: skip


def render_summary(report: ValidationReport, console: Console, *, report_path: str | None) -> None:
    """Print the verdict, the criteria, the findings and where the report is.

    Args:
        report: The run.
        console: Where to print; its width, colours and encoding are respected.
        report_path: Path of ``report.html``, or null when none was written.
    """
    printer = _Summary(console)
    printer.verdict(report)
    printer.criteria(report.criteria)
    printer.findings(report)
    if report_path is not None:
        printer.line(("Report: ", "bold"), (report_path, ""), wrap=False)


class _Summary(LinePrinter):
    """The parts of the summary, each printed by one method."""

    def verdict(self, report: ValidationReport) -> None:
        style = _STYLES[report.verdict]
        word = verdict_words(report).upper()
        self.line()
        self.line((f"{_SIGNS[report.verdict]} {word}  ", style), (report.suite, "bold"))
        self.line((headline(report), ""), indent=2)
        chunks = report.quality_metrics.total_chunks
        parts = [
            f"collection {report.collection_name}",
            *([plural(chunks, "chunk")] if chunks is not None else []),
            *([plural(report.total_queries, "query")] if report.total_queries is not None else []),
            show_seconds(report.duration_seconds),
        ]
        self.line((" · ".join(parts), "dim"), indent=2)
        self.line()

    def criteria(self, results: Sequence[CriterionResult]) -> None:
        outline = outline_criteria(results)
        widths = self._widths([*outline.required, *outline.shown])
        if outline.required:
            self.line(("Required", "bold"))
            self._table(outline.required, widths, dim=False)
        if outline.shown:
            self.line(("Measured, not required", "dim"))
            self._table(outline.shown, widths, dim=True)
        if outline.unmeasured:
            self._unmeasured(outline.unmeasured)
        self.line()

    def findings(self, report: ValidationReport) -> None:
        counts = count_by_severity(report.findings)
        words = [plural(count, severity) for severity, count in counts.items() if count and severity != "info"]
        words += [f"{counts['info']} info"] if counts["info"] else []
        self.line(("Findings: ", "bold"), (", ".join(words) or "none", ""))
        for node in finding_tree(report.findings):
            self._finding(node, indent=0)
        self.line()

    def _finding(self, node: FindingNode, *, indent: int) -> None:
        finding = node.finding
        style = _STYLES[finding.severity]
        scope = f" [{finding.scope}]" if finding.scope else ""
        branch = "└ " if indent else ""
        head = (f"{branch}{_SIGNS[finding.severity]} {finding.code}{scope}", style)
        self.line(head, (f" ({finding.count:,})" if finding.count > 1 else "", "bold"), indent=indent)
        inner = indent + (4 if indent else 2)
        self.line((shorten(finding.message, 300), ""), indent=inner)
        # One subject usually stands in the message already.
        if finding.count > 1:
            for subject in finding.subjects[:_SUBJECTS]:
                self.line((subject, "dim"), indent=inner + 2, wrap=False)
            if finding.count > _SUBJECTS:
                self.line((f"and {finding.count - _SUBJECTS:,} more", "dim"), indent=inner + 2)
        self.line((finding.remedy, "dim" if finding.severity == "info" else "cyan"), indent=inner, lead="→ ")
        for below in node.consequences:
            self._finding(below, indent=inner)

    def _columns(self, result: CriterionResult) -> tuple[str, str, str]:
        return self.fit(result.name), self.fit(show_value(result)), self.fit(show_gate(result))

    def _widths(self, results: Sequence[CriterionResult]) -> list[int]:
        """Widths of name, value and gate over all tables, so that they stand in line."""
        rows = [self._columns(result) for result in results]
        return [max((len(row[column]) for row in rows), default=0) for column in range(3)]

    def _table(self, results: Iterable[CriterionResult], widths: Sequence[int], *, dim: bool) -> None:
        for result in results:
            look = _look(result)
            name, value, gate = self._columns(result)
            head = (
                (f"  {_SIGNS[_state(result)]} ", look),
                (f"{name:{widths[0]}}  ", "dim" if dim else "bold"),
                (f"{value:>{widths[1]}}  ", "" if look == "dim" else look),
                (f"{gate:{widths[2]}}", "dim"),
            )
            room = self.width - sum(len(text) for text, _ in head) - 2
            reason = one_line(reason_of(result))
            # What keeps a run from passing is said in full; elsewhere the table matters more.
            if result.gate_fails and len(reason) > room:
                self.line(*head, wrap=False)
                self.line((shorten(reason, 400), "dim"), indent=6)
            else:
                self.line(*head, (f"  {_cut(reason, room)}" if room >= 12 else "", "dim"), wrap=False)

    def _unmeasured(self, results: Sequence[CriterionResult]) -> None:
        self.line((f"Not measured: {len(results)}", "dim"))
        for reason, members in _names_by_reason(results).items():
            self.line((f"{', '.join(members)}: {shorten(reason, 200)}", "dim"), indent=2)


def _names_by_reason(results: Iterable[CriterionResult]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for result in results:
        names.setdefault(one_line(reason_of(result)), []).append(result.name)
    return names


def _cut(reason: str, room: int) -> str:
    """As much of a reason as there is room for, its first clause if that fits."""
    clause = re.split(r"[,;:(] ?", reason, maxsplit=1)[0].rstrip()
    return clause if len(clause) <= room < len(reason) else shorten(reason, room)


def _state(result: CriterionResult) -> str:
    if result.verdict == "met" and result.threshold is None:
        return "shown"
    if result.verdict == "not_met" and not result.required:
        return "warning"
    return result.verdict


def _look(result: CriterionResult) -> str:
    state = _state(result)
    return "dim" if state == "shown" else _STYLES[state]
