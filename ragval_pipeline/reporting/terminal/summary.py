"""The summary of ``ragval run`` and ``ragval demo``: verdict, findings, and met criteria in three lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.document import FindingEntry, RunDocument, kept_document
from ragval_pipeline.reporting.numbers import show_gate, show_seconds, show_value
from ragval_pipeline.reporting.outline import reason_of
from ragval_pipeline.reporting.terminal.lines import SIGNS, STYLES, LinePrinter
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.display import one_line, shorten
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    from rich.console import Console

#: Subjects listed of a finding, and of its consequences.
_SUBJECTS, _SUBJECTS_BELOW = 2, 1
#: Columns that a reason needs next to its row; with fewer it is printed below.
_NARROWEST = 18
_BELOW = 6


def render_summary(report: ValidationReport, console: Console, *, report_path: str | None) -> None:
    """Print the verdict, the findings, the criteria and the report's location.

    Names of pages and chunks are read from the evidence beside ``report_path``, the path of ``report.html`` if there is
    one.
    """
    printer = SummaryPrinter(console, kept_document(report, report_path))
    printer.verdict()
    printer.findings()
    printer.criteria()
    if report_path is not None:
        printer.line(("Report: ", "bold"), (report_path, ""), wrap=False)


class SummaryPrinter(LinePrinter):
    """Prints one run."""

    def __init__(self, console: Console, document: RunDocument) -> None:
        super().__init__(console)
        self._document = document
        self._told = {document.failure}

    def verdict(self) -> None:
        """The verdict in a word and in a sentence, and what was validated."""
        document = self._document
        report, drafts = document.report, document.drafts
        self.line()
        word = document.word.upper()
        self.line((f"{SIGNS[report.verdict]} {word}  ", f"bold {STYLES[report.verdict]}"), (report.title, "bold"))
        self.line((document.sentence, ""), indent=2)
        chunks, counted = report.quality_metrics.total_chunks, report.total_queries
        parts = [
            f"collection {report.collection_name}",
            *([plural(chunks, "chunk")] if chunks is not None else []),
            *([plural(counted, "query")] if counted or (counted == 0 and not drafts) else []),
            *([plural(drafts, "draft query")] if drafts else []),
            show_seconds(report.duration_seconds),
            *([document.spent] if document.spent else []),
        ]
        self.line((" · ".join(parts), "dim"), indent=2)
        for line in document.about:
            self.line((line, "dim"), indent=2)
        self.line()

    def findings(self) -> None:
        """All findings as a tree."""
        self.line(("Findings: ", "bold"), (self._document.counted or "none", ""))
        for entry in self._document.tree:
            self._finding(entry, indent=0)
        self.line()

    def _finding(self, entry: FindingEntry, *, indent: int) -> None:
        finding = entry.finding
        scope = f" [{finding.scope}]" if finding.scope else ""
        branch = "└ " if indent else ""
        count, shares = entry.follows if indent else (finding.count, "")
        counted = f"{count:,} of {finding.count:,}" if count < finding.count else f"{finding.count:,}"
        self.line(
            (f"{branch}{SIGNS[finding.severity]} {entry.title}{scope}", STYLES[finding.severity]),
            (f" ({counted})" if finding.count > 1 else "", "bold"),
            (f"  {finding.code}", "dim"),
            indent=indent,
        )
        inner = indent + (4 if indent else 2)
        common = f" {entry.pattern}" if entry.pattern else ""
        self.line((shorten(_without_remedy(entry.message, finding), 300) + common, ""), indent=inner)
        if shares:
            self.line((shares, "dim"), indent=inner)
        self._named(entry, indent=inner + 2, below=bool(indent))
        if not indent:
            shows_cause = finding.severity != "info" and finding.cause and finding.cause not in finding.message
            if shows_cause:
                self.line((shorten(finding.cause, 300), "dim"), indent=inner, lead="Why: ")
        if not indent or not entry.goes_away:
            self.line((finding.remedy, "dim" if finding.severity == "info" else "cyan"), indent=inner, lead="→ ")
        if entry.would_change:
            self.line((entry.would_change, "green"), indent=inner + (0 if indent else 2))
        for below in entry.below:
            self._finding(below, indent=inner)

    def _named(self, entry: FindingEntry, *, indent: int, below: bool) -> None:
        """The first subjects in words, with their locations."""
        finding, shown = entry.finding, list(entry.subjects(0, _SUBJECTS_BELOW if below else _SUBJECTS))
        for words in shown:
            # A single page or question is usually in the message already.
            line = words.note if finding.count == 1 and finding.subject_kind in {"page", "query"} else words.line
            if line:
                self.line((line, "dim"), indent=indent)
            if words.url and words.url != words.title and not below:
                self.line((words.url, "dim"), indent=indent if line == words.note else indent + 2, wrap=False)
        if finding.count > len(shown) > 0:
            self.line((f"and {finding.count - len(shown):,} more", "dim"), indent=indent)

    def criteria(self) -> None:
        """Criteria that are not met, row by row; met ones, in three lines; unmeasured ones, by reason."""
        criteria = self._document.criteria
        unknown = [result for result in criteria.missed if result.verdict == "not_measured"]
        for title, results in (
            ("Required and not met", [result for result in criteria.missed if result.verdict == "not_met"]),
            ("Required and not measured", [result for result in unknown if not result.excused]),
            ("Required, but not counted in this run", [result for result in unknown if result.excused]),
        ):
            if results:
                self.line((title, "bold"))
                self._table(results)
        if criteria.below:
            self.line(("Below their gate, not required", "dim"))
            self._table(criteria.below)
        gated = [result for result in criteria.fine if result.threshold is not None]
        self._met(f"{len(criteria.met)} of {criteria.counted} required met: ", criteria.met, every=True)
        self._met(f"{plural(len(gated), 'more gate')} met: ", gated)
        self._met("Without a gate: ", [result for result in criteria.fine if result.threshold is None])
        if criteria.unmeasured:
            self._unmeasured(criteria.unmeasured)
        for number, line in enumerate(self._document.partition_words):
            self.line((line, "bold" if number == 0 else "dim"), indent=2 * (number > 0))
        self.line()

    def _table(self, results: Sequence[CriterionResult]) -> None:
        rows = [(self.fit(criterion_name(result.name)), self.fit(show_value(result)), self.fit(show_gate(result)))
                for result in results]  # fmt: skip
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        for result, (name, value, gate) in zip(results, rows, strict=True):
            state = "warning" if result.verdict == "not_met" and not result.required else result.verdict
            head = [
                (f"  {SIGNS[state]} ", STYLES[state]),
                (f"{name:{widths[0]}}  ", "bold" if result.required else ""),
                (f"{value:>{widths[1]}}  ", STYLES[state]),
                (f"{gate:{widths[2]}}  ", "dim"),
            ]
            reason = [(f"{self._once(reason_of(result))}  ", "dim")] if reason_of(result) else []
            words = [*reason, (result.name, "dim")]
            if self.width - sum(len(text) for text, _ in head) >= 2 * _NARROWEST:
                self.line(*words, lead=head)
            else:
                self.line(*head, wrap=False)
                self.line(*words, indent=_BELOW)

    def _met(self, lead: str, results: Sequence[CriterionResult], *, every: bool = False) -> None:
        """Names and values: as many as fit on one line, or all."""
        if not results:
            return
        entries = [f"{criterion_name(result.name)} {show_value(result)}" for result in results]
        shown = ", ".join(entries) if every else _fitting(entries, self.width - len(lead) - 2)
        sign = (
            (f"{SIGNS['met']} ", STYLES["met"]) if results[0].threshold is not None else (f"{SIGNS['shown']} ", "dim")
        )
        self.line((f"{lead}{shown}", "dim"), lead=[sign])

    def _unmeasured(self, results: Sequence[CriterionResult]) -> None:
        if self._document.report.verdict in {"pass", "fail"}:
            shown = _fitting([criterion_name(result.name) for result in results], self.width - 20)
            self.line((f"{SIGNS['not_measured']} Not measured: {shown}", "dim"))
            return
        self.line((f"Not measured: {len(results)}", "dim"))
        names: dict[str, list[str]] = {}
        for result in results:
            names.setdefault(one_line(reason_of(result)), []).append(criterion_name(result.name))
        for reason, members in names.items():
            self.line((f"{_fitting(members, self.width - 20)}: {self._once(reason)}", "dim"), indent=2)

    def _once(self, reason: str) -> str:
        """A reason in full the first time, then a reference; short ones are repeated."""
        text = shorten(reason, 400)
        if text in self._told:
            return "see above"
        if len(text) > _NARROWEST * 2:
            self._told.add(text)
        return text


def _fitting(entries: Sequence[str], room: int) -> str:
    """The first entries, as many as fit on a line with a note about the rest; at least one."""
    shown: list[str] = []
    for entry in entries:
        if shown and len(", ".join([*shown, entry])) + len(" and 10 more") > room:
            break
        shown.append(entry)
    more = f" and {len(entries) - len(shown)} more" if len(shown) < len(entries) else ""
    return f"{', '.join(shown)}{more}"


def _without_remedy(message: str, finding: ReportedFinding) -> str:
    """The message without a remedy at its end, which is printed separately."""
    told, remedy = one_line(message), one_line(finding.remedy)
    return told.removesuffix(remedy).rstrip() or told
