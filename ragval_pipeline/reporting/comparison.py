"""What changed between two runs, or two indexes of one site: one document that page and terminal render.

Order, words, counts and what is good or bad are decided here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ragval_pipeline.reporting.change_view import Change, change_sentence, criterion_change, finding_tone, whole_changes
from ragval_pipeline.reporting.history.compare import RunComparison, query_changes
from ragval_pipeline.reporting.history.model import CriterionChange, FindingChange
from ragval_pipeline.reporting.numbers import show_measured
from ragval_pipeline.reporting.outline import title_of, verdict_words
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.numbers import show_score
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.regression.compare import MetricChange
from ragval_pipeline.validation.report import ValidationReport

#: The outcome by exit code, with its style.
_OUTCOMES = {1: ("Regression", "bad"), 4: ("Not measured", "none"), 0: ("No regression", "good")}
#: Kinds of questions that differ, in this order, with their style.
KINDS = {
    "lost": "bad", "vanished": "bad", "won": "good", "moved": "plain", "added": "plain", "set aside": "plain",
}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One of the two runs.

    Attributes:
        label: ``before`` or ``after``.
        name: What the run is called.
        verdict: In words.
        tone: ``good``, ``bad`` or ``none``.
        collection: What was validated.
        chunks: Number of its points; None: not read.
        timestamp: When, UTC.
    """

    label: str
    name: str
    verdict: str
    tone: str
    collection: str
    chunks: int | None
    timestamp: str


@dataclass(frozen=True)
class CriterionRow:
    """A criterion of both runs, as shown; ``verdict`` is what became of a gate, else empty."""

    name: str
    code: str
    before: str
    after: str
    tone: str
    verdict: str


@dataclass(frozen=True)
class QuestionRow:
    """A question that differs; ``before`` and ``after`` are scores, the first hits are pages as stored."""

    kind: str
    tone: str
    query_id: str
    text: str
    before: str
    after: str
    first_before: str
    first_after: str
    why: str


@dataclass(frozen=True)
class FindingRow:
    """A finding that differs, with its new and gone subjects."""

    title: str
    code: str
    tone: str
    words: str
    new: Sequence[str]
    gone: Sequence[str]


@dataclass(frozen=True)
class Listing:
    """Pages, by their stored addresses, or chunks of one kind."""

    words: str
    tone: str
    names: Sequence[str]


RowT = TypeVar("RowT", Change, CriterionRow, QuestionRow, FindingRow, Listing)


@dataclass(frozen=True)
class ComparisonDocument:
    """What changed, each list with what is worse first.

    Attributes:
        outcome: ``Regression``, ``No regression`` or ``Not measured``.
        tone: Its style: ``bad``, ``good``, ``none``.
        sentence: The changes in one sentence.
        reason: Why the outcome is that.
        suite: The suite's name.
        sides: The two runs.
        changes: What changed as a whole.
        findings: Findings that differ.
        uncompared: Groups of measurements that only one run has.
        criteria: Criteria that differ as shown.
        metrics: Paired tests over the questions of both.
        asked: Number of questions asked by both.
        questions: Questions that differ, by kind.
        listings: Pages and chunks that differ; None: one of the runs kept no snapshot.
        chunks_gone: Share of the chunks that are gone, 0..1.
        chunks_kept: Number of those that are kept.
    """

    outcome: str
    tone: str
    sentence: str
    reason: str
    suite: str
    sides: Sequence[Side]
    changes: Sequence[Change]
    findings: Sequence[FindingRow]
    uncompared: Sequence[str]
    criteria: Sequence[CriterionRow]
    metrics: Sequence[MetricChange]
    asked: int
    questions: Sequence[QuestionRow]
    listings: Sequence[Listing]
    chunks_gone: float | None
    chunks_kept: int

    @property
    def kinds(self) -> dict[str, int]:
        """How many questions there are of each kind, in their order."""
        counts = {kind: sum(row.kind == kind for row in self.questions) for kind in KINDS}
        return {kind: count for kind, count in counts.items() if count}


def comparison_document(comparison: RunComparison) -> ComparisonDocument:
    """The document of two runs."""
    outcome, tone = _OUTCOMES[comparison.exit_code]

    def toned(rows: Iterable[RowT]) -> list[RowT]:
        """What is worse without being a regression is a warning."""
        return [replace(row, tone="warning") if row.tone == "bad" and tone != "bad" else row for row in rows]

    changes, turnover = comparison.changes, comparison.answers.turnover
    criteria = [row for row in map(_criterion, changes.criteria) if row is not None]
    return ComparisonDocument(
        outcome=outcome,
        tone=tone,
        sentence=change_sentence(changes),
        reason=comparison.no_regression.reason,
        suite=comparison.after[1].suite,
        sides=[_side("before", *comparison.before), _side("after", *comparison.after)],
        changes=toned(whole_changes(changes)),
        findings=toned(map(_finding, changes.findings)),
        uncompared=changes.groups_uncompared,
        criteria=toned(sorted(criteria, key=lambda row: (not row.verdict, row.tone != "bad"))),
        metrics=comparison.answers.changes,
        asked=len(comparison.answers.pairing.same),
        questions=toned(sorted(_questions(comparison), key=lambda row: [*KINDS].index(row.kind))),
        listings=toned(_listings(comparison)),
        chunks_gone=None if turnover is None else turnover.share,
        chunks_kept=0 if turnover is None else turnover.chunks_kept,
    )


def _side(label: str, name: str, report: ValidationReport) -> Side:
    return Side(
        label=label,
        name=name,
        verdict=verdict_words(report),
        tone={"pass": "good", "not_measured": "none"}.get(report.verdict, "bad"),
        collection=report.collection_name,
        chunks=report.quality_metrics.total_chunks,
        timestamp=report.timestamp,
    )


def _criterion(change: CriterionChange) -> CriterionRow | None:
    """None if readers would see the same twice."""
    tone, verdict = criterion_change(change)
    shown = show_measured(change.name, change.before), show_measured(change.name, change.after)
    if shown[0] == shown[1] and not verdict:
        return None
    return CriterionRow(criterion_name(change.name), change.name, *shown, tone, verdict)


def _questions(comparison: RunComparison) -> Iterator[QuestionRow]:
    pairing = comparison.answers.pairing
    pairs = {new.query_id: (old, new) for old, new in (*pairing.same, *pairing.restated)}
    changed = query_changes(comparison.answers)
    for row in changed:
        old, new = pairs[row["query_id"]]
        kind = "set aside" if row["set_aside"] else _kind(old, new)
        yield _question(kind, old, new, why=row["set_aside"] or (new.fail_reason if kind == "lost" else ""))
    reworded = {new.query_id: (old, new) for old, new in (*pairing.restated, *pairing.reworded)}
    for name in pairing.set_aside.keys() - {row["query_id"] for row in changed}:
        yield _question("set aside", *reworded[name], why=pairing.set_aside[name])
    for query in pairing.vanished:
        told = {True: "passed before, counts as failed now", False: "failed before", None: "not judged before"}
        yield _question("vanished", query, None, why=told[query.passed], tone="bad" if query.passed else "plain")
    for query in pairing.added:
        yield _question("added", None, query)


def _question(
    kind: str, old: QueryReport | None, new: QueryReport | None, why: str | None = "", tone: str | None = None
) -> QuestionRow:
    known = new or old
    assert known is not None
    return QuestionRow(
        kind=kind,
        tone=tone or KINDS[kind],
        query_id=known.query_id,
        text=str(known.query.get("query_text") or ""),
        before=show_score(old.best_similarity) if old else "-",
        after=show_score(new.best_similarity) if new else "-",
        first_before=_first(old.top_results) if old else "",
        first_after=_first(new.top_results) if new else "",
        why=why or "",
    )


def _kind(old: QueryReport, new: QueryReport) -> str:
    if old.passed is None or new.passed is None or old.passed == new.passed:
        return "moved"
    return "won" if new.passed else "lost"


def _first(hits: Sequence[TopResult]) -> str:
    """The page of the first hit, as stored."""
    return next((hit.source_url or hit.title or f"point {hit.chunk_id}" for hit in hits), "")


def _finding(change: FindingChange) -> FindingRow:
    scope = f" ({change.scope})" if change.scope else ""
    title = f"{title_of(change.code)}{scope}"
    return FindingRow(title, change.code, finding_tone(change), change.words, change.new, change.gone)


def _listings(comparison: RunComparison) -> Iterator[Listing]:
    changes, turnover = comparison.changes, comparison.answers.turnover

    def stored(pages: Iterable[str]) -> list[str]:
        return sorted(comparison.addresses.get(page, page) for page in pages)

    lost, won = changes.pages_missing, changes.pages_indexed
    if turnover is not None:
        lost, won = turnover.pages_removed, turnover.pages_added
    kinds: list[tuple[str, str, Sequence[str]]] = [
        ("pages without chunks now", "bad", stored(lost)),
        ("pages with chunks now, without before", "good", stored(won)),
    ]
    if turnover is not None:
        kinds.append(("pages whose chunks changed", "plain", stored(turnover.pages_changed)))
    if comparison.chunks is not None:
        named: dict[str, list[str]] = {"changed": [], "removed": [], "added": []}
        for chunk in comparison.chunks:
            kind = "added" if chunk.before is None else "removed" if chunk.after is None else "changed"
            page = comparison.addresses.get(chunk.page, chunk.page) if chunk.page else "of no page"
            named[kind].append(f"{chunk.before or chunk.after}, {page}")
        kinds += [(f"chunks {kind}", "plain", names) for kind, names in named.items()]
    yield from (Listing(words, tone, names) for words, tone, names in kinds if names)
