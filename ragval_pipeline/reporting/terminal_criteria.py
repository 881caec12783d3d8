"""The criteria in the summary on a terminal: tables of those with a gate, one short list of the others.

What lives here: columns, and reasons wrapped into theirs. What does not: the order of criteria (``outline``), units
(``numbers``), the findings (``terminal_findings``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragval_pipeline.reporting.numbers import show_gate, show_measured, show_value
from ragval_pipeline.reporting.outline import CriteriaOutline, outline_criteria, reason_of
from ragval_pipeline.reporting.headline import failure_of, ceiling_of
from ragval_pipeline.reporting.terminal_lines import SIGNS, STYLES, LinePrinter
from ragval_pipeline.reporting.text import one_line, shorten
from ragval_pipeline.suite.criteria import rank_of
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.retrieval.metrics import why_limited
from ragval_pipeline.validation.verdict import CriterionResult

#: Columns that a reason needs beside its row; with fewer it stands below, or gives way to the table.
_NARROWEST = 18
_BELOW = 6
#: Indent of the list of values without a gate.
_LIST = 4


class CriteriaPrinter(LinePrinter):
    """Prints the criteria of one report."""

    def criteria(self, report: ValidationReport) -> None:
        """The required criteria, those with a gate, those without one, and those that were not measured."""
        outline = outline_criteria(report.criteria)
        self._told = {failure_of(report)}
        gated = [result for result in outline.shown if result.threshold is not None]
        widths = self._widths([*outline.required, *gated])
        if outline.required:
            self.line(("Required", "bold"))
            self._table(outline.required, widths, dim=False)
        if gated:
            self.line(("Measured, not required", "dim"))
            self._table(gated, widths, dim=True)
        self._without_gate(report, outline)
        if outline.unmeasured:
            self._unmeasured(outline.unmeasured)
        self.line()

    def _columns(self, result: CriterionResult) -> tuple[str, str, str]:
        return self.fit(result.name), self.fit(show_value(result)), self.fit(show_gate(result))

    def _widths(self, results: Sequence[CriterionResult]) -> list[int]:
        """Widths of name, value and gate over all tables, so that they stand in line."""
        rows = [self._columns(result) for result in results]
        return [max((len(row[column]) for row in rows), default=0) for column in range(3)]

    def _table(self, results: Iterable[CriterionResult], widths: Sequence[int], *, dim: bool) -> None:
        for result in results:
            state = _state(result)
            name, value, gate = self._columns(result)
            head = [
                (f"  {SIGNS[state]} ", STYLES[state]),
                (f"{name:{widths[0]}}  ", "dim" if dim else "bold"),
                (f"{value:>{widths[1]}}  ", STYLES[state]),
                (f"{gate:{widths[2]}}  ", "dim"),
            ]
            room = self.width - sum(len(text) for text, _ in head)
            told = self._once(reason_of(result))
            # Of a gate that is met, the first clause is enough where the whole would need more lines.
            reason = (_first_clause(told) if state == "met" and len(told) > room else told, "dim")
            if not told:
                self.line(*head, wrap=False)
            elif room >= _NARROWEST:
                self.line(reason, lead=head)
            else:
                self.line(*head, wrap=False)
                if result.gate_fails:  # what keeps a run from passing is said however narrow the window is
                    self.line(reason, indent=_BELOW)

    def _without_gate(self, report: ValidationReport, outline: CriteriaOutline) -> None:
        """Values that nothing is asked of, in running text: names and numbers are all there is to say."""
        entries = []
        for result in outline.shown:
            if result.threshold is None:
                ceiling = ceiling_of(report, result.name)
                most = "" if ceiling is None else f" of at most {show_measured(result.name, ceiling)}"
                limit = f"{most} ({why_limited(result.name)})" if most else ""
                entries.append(f"{result.name} {show_value(result)}{limit}")
        if entries:
            ranked = any(rank_of(result.name) for result in outline.shown if result.threshold is None)
            told = " (figures at K are on pages, queries are judged by chunks)" if ranked else ""
            self.line((f"Without a gate{told}", "dim"))
        for line in _packed(entries, self.width - _LIST):
            self.line((line, "dim"), indent=_LIST)

    def _unmeasured(self, results: Sequence[CriterionResult]) -> None:
        self.line((f"Not measured: {len(results)}", "dim"))
        names: dict[str, list[str]] = {}
        for result in results:
            names.setdefault(one_line(reason_of(result)), []).append(result.name)
        for reason, members in names.items():
            self.line((f"{', '.join(members)}: {self._once(reason)}", "dim"), indent=2)

    def _once(self, reason: str) -> str:
        """A reason in full where it is told first, else a pointer to there; short ones are told again."""
        text = shorten(reason, 400)
        if text in self._told:
            return "see above"
        if len(text) > _NARROWEST * 2:
            self._told.add(text)
        return text


def _packed(entries: Iterable[str], room: int) -> list[str]:
    """Lines of as many entries as there is room for, none of them torn apart."""
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + len(" · ") + len(entry) <= room:
            lines[-1] += f" · {entry}"
        else:
            lines.append(entry)
    return lines


def _first_clause(reason: str) -> str:
    return re.split(r"[,;:] | ?\(", reason, maxsplit=1)[0]


def _state(result: CriterionResult) -> str:
    if result.verdict == "not_met" and not result.required:
        return "warning"
    return "shown" if result.verdict == "met" and result.threshold is None else result.verdict
