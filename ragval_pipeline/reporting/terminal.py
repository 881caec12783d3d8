"""The summary that ``ragval run`` and ``ragval demo`` print.

What lives here: the lines and their looks on a terminal, in a pipe and without colour. What does not: progress bars
(``cli``). Whatever an index holds, no control character of it reaches the terminal and none of it is markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.numbers import plural, show_gate, show_seconds, show_value
from ragval_pipeline.reporting.outline import (
    VERDICT_WORDS,
    FindingNode,
    count_by_severity,
    finding_tree,
    headline,
    outline_criteria,
)
from ragval_pipeline.reporting.text import one_line, shorten
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_SUBJECTS = 3
_STYLES = {
    "pass": "bold green", "fail": "bold red", "error": "bold red", "not_measured": "bold yellow", "met": "green",
    "not_met": "red", "info": "blue", "warning": "yellow",
}  # fmt: skip
_SIGNS = {
    "pass": "✓", "fail": "✗", "error": "✗", "not_measured": "○", "met": "✓", "not_met": "✗", "warning": "!",
    "info": "·", "shown": "·",
}  # fmt: skip
_ASCII = {"✓": "+", "✗": "x", "○": "o", "·": "-", "≥": ">=", "≤": "<=", "→": "->", "└": "`-", "…": "..."}


def render_summary(report: ValidationReport, console: Console, *, report_path: str | None) -> None:
    """Print the verdict, the criteria, the findings and where the report is.

    Args:
        report: The run.
        console: Where to print; its width, colours and encoding are respected.
        report_path: Path of ``report.html``, or null when none was written.
    """
    printer = _Printer(console)
    printer.verdict(report)
    printer.criteria(report.criteria)
    printer.findings(report)
    if report_path is not None:
        printer.line(("Report: ", "bold"), (report_path, ""), wrap=False)


class _Printer:
    """Prints to one console, in the characters that it can show."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = console.encoding
        self._plain = not console.encoding.lower().startswith("utf")

    def line(self, *parts: tuple[str, str], indent: int = 0, wrap: bool = True) -> None:
        """Print one line of ``(text, style)``; without ``wrap`` it stays whole, so that it can be copied."""
        from rich.padding import Padding

        text = self._text(*parts)
        if wrap:
            self._console.print(Padding(text, (0, 0, 0, indent)))
        else:
            self._console.print(self._text((" " * indent, "")) + text, soft_wrap=True)

    def verdict(self, report: ValidationReport) -> None:
        style = _STYLES[report.verdict]
        word = VERDICT_WORDS[report.verdict].upper()
        self.line()
        self.line((f"{_SIGNS[report.verdict]} {word}  ", style), (report.suite, "bold"))
        self.line((headline(report), ""), indent=2)
        chunks = report.quality_metrics.total_chunks
        parts = [
            f"collection {report.collection_name}",
            *([plural(chunks, "chunk")] if chunks is not None else []),
            plural(report.total_queries, "query"),
            show_seconds(report.duration_seconds),
        ]
        self.line((" · ".join(parts), "dim"), indent=2)
        self.line()

    def criteria(self, results: Sequence[CriterionResult]) -> None:
        outline = outline_criteria(results)
        if outline.required:
            self.line(("Required", "bold"))
            self._console.print(self._table(outline.required, dim=False))
        if outline.shown:
            self.line(("Measured, not required", "dim"))
            self._console.print(self._table(outline.shown, dim=True))
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
        self.line((f"→ {finding.remedy}", "cyan" if finding.severity != "info" else "dim"), indent=inner)
        for below in node.consequences:
            self._finding(below, indent=inner)

    def _table(self, results: Iterable[CriterionResult], *, dim: bool) -> Table:
        from rich.table import Table

        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), style="dim" if dim else "")
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
        for result in results:
            look = _look(result)
            value_style = look if look and look != "dim" else ""
            table.add_row(
                self._text((f"  {_SIGNS[_state(result)]}", look)),
                self._text((result.name, "dim" if dim else "bold")),
                self._text((show_value(result), value_style)),
                self._text((show_gate(result), "dim")),
                self._text((shorten(result.reason, 160), "dim")),
            )
        return table

    def _unmeasured(self, results: Sequence[CriterionResult]) -> None:
        self.line((f"Not measured: {len(results)}", "dim"))
        for reason, members in _names_by_reason(results).items():
            self.line((f"{', '.join(members)}: {shorten(reason, 200)}", "dim"), indent=2)

    def _text(self, *parts: tuple[str, str]) -> Text:
        from rich.text import Text

        text = Text()
        for content, style in parts:
            text.append(self._fit(content), style)
        return text

    def _fit(self, content: str) -> str:
        """The characters that the console can show: nothing that commands it, nothing that it cannot encode."""
        lead = len(content) - len(content.lstrip(" "))
        trail = len(content) - len(content.rstrip(" ")) if content.strip(" ") else 0
        clean = f"{' ' * lead}{one_line(content)}{' ' * trail}"
        if not self._plain:
            return clean
        for character, plain in _ASCII.items():
            clean = clean.replace(character, plain)
        return clean.encode(self._encoding, "replace").decode(self._encoding)


def _names_by_reason(results: Iterable[CriterionResult]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for result in results:
        names.setdefault(one_line(result.reason.removeprefix("not measured: ")), []).append(result.name)
    return names


def _state(result: CriterionResult) -> str:
    if result.verdict == "met" and result.threshold is None:
        return "shown"
    if result.verdict == "not_met" and not result.required:
        return "warning"
    return result.verdict


def _look(result: CriterionResult) -> str:
    state = _state(result)
    return "dim" if state == "shown" else _STYLES[state]
