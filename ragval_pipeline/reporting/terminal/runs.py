"""Output of ``ragval history``, ``ragval compare`` and ``ragval calibrate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.change_view import change_sentence
from ragval_pipeline.reporting.history.compare import RunComparison, query_changes
from ragval_pipeline.reporting.history.model import RunChanges, RunHistory, RunPoint
from ragval_pipeline.reporting.numbers import show_measured
from ragval_pipeline.reporting.outline import PARTIAL, VERDICT_WORDS, is_partial, title_of, verdict_words
from ragval_pipeline.reporting.terminal.lines import STYLES, LinePrinter
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_percent, show_score
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.calibration import ErrorRates, Proposal, Scores
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.regression.compare import Comparison

if TYPE_CHECKING:
    from rich.console import Console


def render_history(history: RunHistory, printer: LinePrinter, *, total: int) -> None:
    """Print the runs, newest first of ``total``, and each criterion as a sparkline, oldest left."""
    shown = "" if total == len(history.runs) else f", the newest {len(history.runs):,} shown"
    printer.line((plural(total, "run"), "bold"), (shown, "dim"))
    width = max((len(_words(run)) for run in history.runs), default=0)
    for run in reversed(history.runs):
        _run(printer, run, history.baseline, width)
    printer.line()
    names = history.criteria()
    width = max((len(criterion_name(name)) for name in names), default=0)
    for name in names:
        _criterion(printer, history, name, width)


def history_json(history: RunHistory, suite: str) -> dict[str, Any]:
    """The runs as JSON values, oldest first."""
    return {
        "suite": suite,
        "baseline": history.baseline,
        "runs": [
            {
                "name": run.name,
                "run_id": run.run_id,
                "timestamp": run.timestamp,
                "verdict": run.verdict,
                "partial": is_partial(run.groups),
                "collection_name": run.collection_name,
                "baseline": run.name == history.baseline,
                "criteria": {name: result.model_dump() for name, result in run.criteria.items()},
            }
            for run in history.runs
        ],
    }


def _run(printer: LinePrinter, run: RunPoint, baseline: str | None, width: int) -> None:
    missed = [criterion_name(name) for name, result in run.criteria.items() if result.gate_fails]
    notes = [*(["baseline"] if run.name == baseline else []), *([", ".join(missed)] if missed else [])]
    printer.line((f"{_words(run):{width}}  ", STYLES[run.verdict]), ("; ".join(notes), "dim"), lead=f"  {run.name}  ")


def _words(run: RunPoint) -> str:
    return VERDICT_WORDS[run.verdict] + (PARTIAL if is_partial(run.groups) else "")


def _criterion(printer: LinePrinter, history: RunHistory, name: str, width: int) -> None:
    values = history.values(name)
    known = [value for value in values if value is not None]
    now = show_measured(name, values[-1])
    span = f"  ({show_measured(name, min(known))} to {show_measured(name, max(known))})" if len(set(known)) > 1 else ""
    line = sparkline(values, plain=printer.plain)
    lead = [(f"  {criterion_name(name):{width}}  ", "")]
    printer.line((line, "cyan"), (f"  {now}", "bold"), (span, "dim"), (f"  {name}", "dim"), lead=lead, wrap=False)


BARS = "▁▂▃▄▅▆▇█"
#: For streams with basic characters only.
PLAIN_BARS = "_.,:=+*#"
GAP, PLAIN_GAP = "·", "-"


def sparkline(values: Sequence[float | None], *, plain: bool = False) -> str:
    """One character per value, the lowest bar for the lowest value; a dot for None.

    Equal values are drawn in the middle: a constant line is neither high nor low.
    """
    bars, gap = (PLAIN_BARS, PLAIN_GAP) if plain else (BARS, GAP)
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = high - low
    middle = (len(bars) - 1) // 2
    return "".join(
        gap if value is None else bars[round((value - low) / span * (len(bars) - 1))] if span else bars[middle]
        for value in values
    )


#: Queries, pages and chunks of each kind listed; ``--json`` lists all.
MOST_NAMED = 10
_WORDS = {1: ("✗ REGRESSION", "bold red"), 4: ("○ NOT MEASURED", "bold yellow"), 0: ("✓ NO REGRESSION", "bold green")}


def render_comparison(comparison: RunComparison, console: Console) -> None:
    """Print the comparison of two runs."""
    printer = _Comparison(console)
    printer.head(comparison)
    printer.criteria(comparison)
    printer.metrics(comparison.answers)
    printer.queries(comparison)
    printer.findings(comparison.changes)
    printer.corpus(comparison)


class _Comparison(LinePrinter):
    """The parts of the comparison, one method each."""

    def head(self, comparison: RunComparison) -> None:
        word, style = _WORDS[comparison.exit_code]
        self.line((word, style))
        self.line((change_sentence(comparison.changes), ""), indent=2)
        self.line((comparison.no_regression.reason, "dim"), indent=2)
        for label, (name, report) in (("before", comparison.before), ("after", comparison.after)):
            about = f"  {verdict_words(report)}, {report.collection_name}"
            self.line((name, ""), (about, "dim"), lead=f"  {label:6}  ")

    def criteria(self, comparison: RunComparison) -> None:
        changes = comparison.changes.criteria
        self._title("Criteria", "each over all queries of its own run" if changes else "none differs")
        width = max((len(criterion_name(change.name)) for change in changes), default=0)
        for change in changes:
            values = f"{show_measured(change.name, change.before)} → {show_measured(change.name, change.after)}"
            verdicts = "" if change.verdict_before == change.verdict_after else f"  {_verdict(change.verdict_after)}"
            style = "" if change.better is None else "green" if change.better else "red"
            lead = f"  {criterion_name(change.name):{width}}  "
            self.line((values, style), (verdicts, "dim"), (f"  {change.name}", "dim"), lead=lead)

    def metrics(self, answers: Comparison) -> None:
        """Print metrics under separate names: a criterion of the same name counts each run's own queries."""
        gone = sum(query.passed is not None for query in answers.pairing.vanished)
        about = "the same queries in both runs" + (f", {gone} vanished ones as failed" if gone else "")
        self._title("Paired", about if answers.changes else "no query can be compared")
        for change in answers.changes:
            test = change.test
            interval = "" if test.interval is None else f", 95 % {test.interval[0]:+.3f} to {test.interval[1]:+.3f}"
            self.line(
                (f"{test.before:.3f} → {test.after:.3f} ({test.delta:+.3f}{interval})", ""),
                (f"  {'exact ' if change.exact else ''}p {change.p_adjusted:.2g}", "dim"),
                (f"  {test.wins} won, {test.ties} tied, {test.losses} lost", "dim"),
                lead=f"  {change.metric} of {plural(test.n, 'query')}  ",
            )

    def queries(self, comparison: RunComparison) -> None:
        pairing = comparison.answers.pairing
        rows = query_changes(comparison.answers)
        compared = [row for row in rows if row["query_id"] not in pairing.set_aside]
        lost = [row for row in compared if row["passed_before"] is True and row["passed_after"] is False]
        won = [row for row in compared if row["passed_before"] is False and row["passed_after"] is True]
        counts = {
            "asked by both runs": len(pairing.same), "lost": len(lost), "won": len(won),
            "vanished": len(pairing.vanished), "added": len(pairing.added), "set aside": len(pairing.set_aside),
        }  # fmt: skip
        always = ("asked by both runs", "lost", "won")
        told = [f"{count} {name}" for name, count in counts.items() if count or name in always]
        self._title("Queries", ", ".join(told))
        self._named("lost", "red", [_query_line(row) for row in lost])
        self._named("won", "green", [_query_line(row) for row in won])
        self._named("vanished", "red", [_vanished_line(query) for query in pairing.vanished])
        self._named("added", "", [_asked(query.query_id, query.query.get("query_text")) for query in pairing.added])
        self._named("set aside", "", [f"{name}: {why}" for name, why in sorted(pairing.set_aside.items())])

    def findings(self, changes: RunChanges) -> None:
        self._title("Findings", "" if changes.findings else "none differs")
        if changes.groups_uncompared:
            groups = ", ".join(changes.groups_uncompared)
            self.line((f"not compared, measured by one of the runs only: {groups}", "dim"), indent=2)
        for change in changes.findings:
            scope = f" [{change.scope}]" if change.scope else ""
            style = "green" if change.is_better else "red" if change.severity == "error" else ""
            told = ((f"  {text}", "dim") for text in (change.words, change.code))
            self.line((f"{title_of(change.code)}{scope}", style), *told, lead="  ")
            for kind, names in (("new", change.new), ("gone", change.gone)):
                if names:
                    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
                    self.line((", ".join(names[:MOST_NAMED]) + more, ""), lead=f"    {kind}  ")

    def corpus(self, comparison: RunComparison) -> None:
        change = comparison.answers.turnover
        if change is None or comparison.chunks is None:
            self._title("Corpus", "one of the runs kept no snapshot")
            return
        self._title("Corpus", f"{percent(change.share)} of the chunks are gone, {change.chunks_kept:,} kept")
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


def _vanished_line(query: QueryReport) -> str:
    told = {True: ": passed before, counts as failed now", False: ": failed before"}
    asked = _asked(query.query_id, query.query.get("query_text"))
    return asked if query.passed is None else asked + told[query.passed]


def _query_line(row: dict[str, Any]) -> str:
    scores = f"{show_score(row['best_similarity_before'])} → {show_score(row['best_similarity_after'])}"
    why = f": {row['fail_reason']}" if row["fail_reason"] else ""
    return f"{_asked(row['query_id'], row['query_text'])}  {scores}{shorten(why, 160)}"


def _asked(query_id: str, text: object) -> str:
    """A question by its text, with its id."""
    return f"{shorten(str(text), 120)} ({query_id})" if text else query_id


_WIDTH = 12


def render_proposal(proposal: Proposal, scores: Scores, printer: LinePrinter) -> None:
    """Print the scores, what each threshold does to them, and the lines to paste."""
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
    """The section of the suite file with the proposal."""
    return [
        "retrieval:",
        f"  min_similarity: {proposal.min_similarity:g}",
        f"  relevance_similarity: {proposal.relevance_similarity:g}",
    ]


def proposal_json(proposal: Proposal, scores: Scores) -> dict[str, Any]:
    """The proposal and its scores, as JSON values."""
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
    return f"{len(values):,}: {values[0]:.3f} to {values[-1]:.3f}, median {median(values):.3f}"


def _cells(rates: ErrorRates) -> list[str]:
    return [f"{rates.threshold:g}", *(show_percent(share) for share in (rates.lost, rates.let_through, rates.own_lost))]
