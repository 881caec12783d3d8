"""What ``ragval compare`` prints. What does not live here: comparing (``compare``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.history.compare import RunComparison, query_changes
from ragval_pipeline.reporting.history.model import FindingChange
from ragval_pipeline.reporting.numbers import plural, show_measured, show_score
from ragval_pipeline.reporting.outline import VERDICT_WORDS
from ragval_pipeline.reporting.terminal_lines import LinePrinter
from ragval_pipeline.reporting.text import shorten
from ragval_pipeline.validation.regression.compare import MetricChange

if TYPE_CHECKING:
    from rich.console import Console

#: Queries, pages and chunks of each kind that are named; ``--json`` names all.
MOST_NAMED = 10
_WORDS = {1: ("✗ REGRESSION", "bold red"), 4: ("○ NOT MEASURED", "bold yellow"), 0: ("✓ NO REGRESSION", "bold green")}


def render_comparison(comparison: RunComparison, console: Console) -> None:
    """Print the comparison of two runs."""
    printer = _Comparison(console)
    printer.head(comparison)
    printer.criteria(comparison)
    printer.metrics(comparison.answers.changes)
    printer.queries(comparison)
    printer.findings(comparison.changes.findings)
    printer.corpus(comparison)


class _Comparison(LinePrinter):
    """The parts of the comparison, each printed by one method."""

    def head(self, comparison: RunComparison) -> None:
        word, style = _WORDS[comparison.exit_code]
        self.line((word, style))
        self.line((comparison.no_regression.reason, ""), indent=2)
        for label, (name, report) in (("before", comparison.before), ("after", comparison.after)):
            about = f"  {VERDICT_WORDS[report.verdict]}, {report.collection_name}"
            self.line((name, ""), (about, "dim"), lead=f"  {label:6}  ")

    def criteria(self, comparison: RunComparison) -> None:
        changes = comparison.changes.criteria
        self._title("Criteria", "none differs" if not changes else "")
        width = max((len(change.name) for change in changes), default=0)
        for change in changes:
            values = f"{show_measured(change.name, change.before)} → {show_measured(change.name, change.after)}"
            verdicts = "" if change.verdict_before == change.verdict_after else f"  {_verdict(change.verdict_after)}"
            style = "" if change.better is None else "green" if change.better else "red"
            self.line((values, style), (verdicts, "dim"), lead=f"  {change.name:{width}}  ")

    def metrics(self, changes: Sequence[MetricChange]) -> None:
        self._title("Metrics", "" if changes else "no query can be compared")
        for change in changes:
            test = change.test
            interval = "" if test.interval is None else f", 95 % {test.interval[0]:+.3f} to {test.interval[1]:+.3f}"
            self.line(
                (f"{test.before:.3f} → {test.after:.3f} ({test.delta:+.3f}{interval})", ""),
                (f"  {'exact ' if test.exact else ''}p {change.p_adjusted:.2g}", "dim"),
                (f"  {test.wins} won, {test.ties} tied, {test.losses} lost", "dim"),
                lead=f"  {change.metric}  ",
            )

    def queries(self, comparison: RunComparison) -> None:
        pairing = comparison.answers.pairing
        rows = query_changes(comparison.answers)
        lost = [row for row in rows if row["passed_before"] is True and row["passed_after"] is False]
        won = [row for row in rows if row["passed_before"] is False and row["passed_after"] is True]
        self._title("Queries", f"{len(pairing.same)} compared, {len(lost)} lost, {len(won)} won")
        self._named("lost", "red", [_query_line(row) for row in lost])
        self._named("won", "green", [_query_line(row) for row in won])
        self._named("vanished", "red", [query.query_id for query in pairing.vanished])
        self._named("added", "", [query.query_id for query in pairing.added])
        self._named("reworded", "", [new.query_id for _, new in pairing.reworded])
        self._named("held to something else", "", [new.query_id for _, new in pairing.restated])

    def findings(self, changes: Sequence[FindingChange]) -> None:
        self._title("Findings", "none differs" if not changes else "")
        for change in changes:
            scope = f" [{change.scope}]" if change.scope else ""
            kind = "new" if change.is_new else "gone" if change.is_gone else "changed"
            style = "green" if change.after < change.before else "red" if change.severity == "error" else ""
            self.line(
                (f"{change.code}{scope}", style), (f"  {change.before} → {change.after}", "dim"), lead=f"  {kind} "
            )

    def corpus(self, comparison: RunComparison) -> None:
        change = comparison.answers.turnover
        if change is None or comparison.chunks is None:
            self._title("Corpus", "one of the runs kept no snapshot")
            return
        self._title("Corpus", f"{change.share:.0%} of the chunks are gone, {change.chunks_kept} kept")
        self._named("page added", "", change.pages_added)
        self._named("page removed", "red", change.pages_removed)
        self._named("page changed", "", change.pages_changed)
        kinds: dict[str, list[str]] = {"chunk changed": [], "chunk removed": [], "chunk added": []}
        for chunk in comparison.chunks:
            kind = (
                "chunk added" if chunk.before is None else "chunk removed" if chunk.after is None else "chunk changed"
            )
            kinds[kind].append(f"{chunk.before or chunk.after}  {chunk.page or 'no page'}")
        for kind, lines in kinds.items():
            self._named(kind, "", lines)

    def _title(self, title: str, about: str) -> None:
        self.line()
        self.line((title, "bold"), (f"  {about}" if about else "", "dim"))

    def _named(self, kind: str, style: str, lines: Sequence[str]) -> None:
        for line in lines[:MOST_NAMED]:
            self.line((line, ""), lead=f"  {kind}  ")
        if len(lines) > MOST_NAMED:
            self.line((f"and {plural(len(lines) - MOST_NAMED, 'more')}".removesuffix("s"), style or "dim"), indent=4)


def _verdict(verdict: str | None) -> str:
    return "no longer a criterion" if verdict is None else f"now {verdict.replace('_', ' ')}"


def _query_line(row: dict[str, Any]) -> str:
    scores = f"{show_score(row['best_similarity_before'])} → {show_score(row['best_similarity_after'])}"
    why = f": {row['fail_reason']}" if row["fail_reason"] else ""
    return f"{row['query_id']}  {scores}{shorten(why, 160)}"
