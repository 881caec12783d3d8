"""The findings in the summary on a terminal: causes with what follows from them, a few subjects of each.

What lives here: one finding and its subjects. What does not: which hangs below which (``outline``).
"""

from __future__ import annotations

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.outline import FindingNode, count_by_severity, finding_tree, would_clear
from ragval_pipeline.reporting.terminal_lines import SIGNS, STYLES, LinePrinter
from ragval_pipeline.reporting.text import one_line, shorten
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.report import QueryReport, ValidationReport

_SUBJECTS = 3
#: Characters of a query's text, and of why it failed.
_TEXT, _REASON = 100, 160


class FindingsPrinter(LinePrinter):
    """Prints the findings of one report."""

    def findings(self, report: ValidationReport) -> None:
        """All findings as a tree, errors first."""
        counts = count_by_severity(report.findings)
        words = [plural(count, severity) for severity, count in counts.items() if count and severity != "info"]
        words += [f"{counts['info']} info"] if counts["info"] else []
        self.line(("Findings: ", "bold"), (", ".join(words) or "none", ""))
        self._queries = {entry.query_id: entry for entry in report.query_results}
        for node in finding_tree(report.findings):
            self._finding(node, indent=0)
        self.line()

    def _finding(self, node: FindingNode, *, indent: int) -> None:
        finding = node.finding
        style = STYLES[finding.severity]
        scope = f" [{finding.scope}]" if finding.scope else ""
        branch = "└ " if indent else ""
        head = (f"{branch}{SIGNS[finding.severity]} {finding.code}{scope}", style)
        self.line(head, (f" ({finding.count:,})" if finding.count > 1 else "", "bold"), indent=indent)
        inner = indent + (4 if indent else 2)
        self.line((shorten(_without_remedy(finding), 300), ""), indent=inner)
        self._subjects(finding, indent=inner + 2)
        self.line((finding.remedy, "dim" if finding.severity == "info" else "cyan"), indent=inner, lead="→ ")
        if told := would_clear(finding):
            self.line((told, "green"), indent=inner + 2)
        for below in node.consequences:
            self._finding(below, indent=inner)

    def _subjects(self, finding: ReportedFinding, *, indent: int) -> None:
        """The first subjects; of queries also what they ask and why they failed."""
        shown = finding.subjects[:_SUBJECTS]
        for subject in shown:
            query = self._queries.get(subject) if finding.subject_kind == "query" else None
            # One subject usually stands in the message already.
            if finding.count > 1:
                self.line((subject, "dim"), indent=indent, wrap=False)
            if query is not None:
                self._query(query, finding, indent=indent + (2 if finding.count > 1 else 0))
        if finding.count > len(shown) > 0:
            self.line((f"and {finding.count - len(shown):,} more", "dim"), indent=indent)

    def _query(self, query: QueryReport, finding: ReportedFinding, *, indent: int) -> None:
        self.line((f"“{shorten(_text_of(query), _TEXT)}”", ""), indent=indent)
        reason = query.fail_reason if finding.code in {"query.failed", "query.negative_scored_high"} else None
        if reason:
            self.line((shorten(reason, _REASON), "dim"), indent=indent)


def _without_remedy(finding: ReportedFinding) -> str:
    """The message; a remedy at its end is not said twice, because it follows."""
    message, remedy = one_line(finding.message), one_line(finding.remedy)
    return message.removesuffix(remedy).rstrip() or message


def _text_of(query: QueryReport) -> str:
    """What the query asks, under whichever of its names the file gives it."""
    return str(next((query.query[name] for name in ("query_text", "query", "text") if query.query.get(name)), ""))
