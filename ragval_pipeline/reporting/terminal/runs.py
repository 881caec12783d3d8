"""Output of ``ragval history``, ``ragval compare`` and ``ragval calibrate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.comparison import ComparisonDocument, QuestionRow, comparison_document
from ragval_pipeline.reporting.history.compare import RunComparison
from ragval_pipeline.reporting.history.model import RunHistory, RunPoint
from ragval_pipeline.reporting.numbers import show_measured
from ragval_pipeline.reporting.outline import PARTIAL, VERDICT_WORDS, is_partial
from ragval_pipeline.reporting.terminal.lines import STYLES, LinePrinter
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_percent
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.calibration import ErrorRates, Proposal, Scores
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
_SIGNS = {"bad": "✗", "none": "○", "good": "✓"}
_STYLES = {"bad": "red", "good": "green", "none": "yellow", "warning": "", "plain": ""}


def render_comparison(comparison: RunComparison, console: Console) -> None:
    """Print the comparison of two runs."""
    document, printer = comparison_document(comparison), _Comparison(console)
    printer.head(document)
    printer.criteria(document)
    printer.metrics(comparison.answers)
    printer.queries(document)
    printer.findings(document)
    printer.corpus(document)


class _Comparison(LinePrinter):
    """The parts of the comparison, one method each."""

    def head(self, document: ComparisonDocument) -> None:
        self.line((f"{_SIGNS[document.tone]} {document.outcome.upper()}", f"bold {_STYLES[document.tone]}"))
        self.line((document.sentence, ""), indent=2)
        self.line((document.reason, "dim"), indent=2)
        for side in document.sides:
            self.line((side.name, ""), (f"  {side.verdict}, {side.collection}", "dim"), lead=f"  {side.label:6}  ")

    def criteria(self, document: ComparisonDocument) -> None:
        self._title("Criteria", "each over all queries of its own run" if document.criteria else "none differs")
        width = max((len(row.name) for row in document.criteria), default=0)
        for row in document.criteria:
            values = (f"{row.before} → {row.after}", _STYLES[row.tone])
            verdict = f"  {row.verdict}" if row.verdict else ""
            self.line(values, (verdict, "dim"), (f"  {row.code}", "dim"), lead=f"  {row.name:{width}}  ")

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

    def queries(self, document: ComparisonDocument) -> None:
        counts = {"asked by both runs": document.asked, "lost": 0, "won": 0, **document.kinds}
        self._title("Queries", ", ".join(f"{count:,} {kind}" for kind, count in counts.items()))
        for kind in document.kinds:
            if kind != "moved":  # the page and --json have them
                self._named(kind, [_question(row) for row in document.questions if row.kind == kind])

    def findings(self, document: ComparisonDocument) -> None:
        self._title("Findings", "" if document.findings else "none differs")
        if document.uncompared:
            groups = ", ".join(document.uncompared)
            self.line((f"not compared, measured by one of the runs only: {groups}", "dim"), indent=2)
        for row in document.findings:
            told = ((f"  {text}", "dim") for text in (row.words, row.code))
            self.line((row.title, _STYLES[row.tone]), *told, lead="  ")
            for kind, names in (("new", row.new), ("gone", row.gone)):
                if names:
                    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
                    self.line((", ".join(names[:MOST_NAMED]) + more, ""), lead=f"    {kind}  ")

    def corpus(self, document: ComparisonDocument) -> None:
        if document.chunks_gone is None:
            self._title("Corpus", "one of the runs kept no snapshot")
        else:
            gone, kept = percent(document.chunks_gone), document.chunks_kept
            self._title("Corpus", f"{gone} of the chunks are gone, {kept:,} kept")
        for listing in document.listings:
            self.line((listing.words, _STYLES[listing.tone]), (f"  {len(listing.names):,}", "dim"), indent=2)
            self._named("", listing.names)

    def _title(self, title: str, about: str) -> None:
        self.line()
        self.line((title, "bold"), (f"  {about}" if about else "", "dim"))

    def _named(self, kind: str, lines: Sequence[str]) -> None:
        for line in lines[:MOST_NAMED]:
            self.line((line, ""), lead=f"  {kind}  ")
        if len(lines) > MOST_NAMED:
            self.line((f"and {len(lines) - MOST_NAMED:,} more", "dim"), indent=4)


def _question(row: QuestionRow) -> str:
    """A question by its text, with its id, its scores and why it differs."""
    asked = f"{shorten(row.text, 120)} ({row.query_id})" if row.text else row.query_id
    scores = f"  {row.before} → {row.after}" if row.kind in ("lost", "won") else ""
    return f"{asked}{scores}{shorten(f': {row.why}', 160) if row.why else ''}"


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
