"""One page about two runs, or two indexes of one site: what changed, then criteria, questions, findings and corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from ragval_pipeline.reporting.change_view import change_sentence, whole_changes
from ragval_pipeline.reporting.history.compare import RunComparison, power_words, query_changes
from ragval_pipeline.reporting.history.model import CriterionChange, FindingChange
from ragval_pipeline.reporting.html.page import environment
from ragval_pipeline.reporting.numbers import show_measured
from ragval_pipeline.reporting.outline import title_of, verdict_words
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.numbers import show_score
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.regression.neighbours import NEIGHBOURS, KeptNeighbours
from ragval_pipeline.validation.report import ValidationReport

#: Names of a kind listed; ``ragval compare --json`` has all.
MOST_LISTED = 200
_BADGES = {1: ("Regression", "bad"), 4: ("Not measured", "none"), 0: ("No regression", "good")}


@dataclass(frozen=True)
class CriterionRow:
    """A criterion of both runs, as shown."""

    name: str
    code: str
    before: str
    after: str
    tone: str
    verdict: str


@dataclass(frozen=True)
class QuestionRow:
    """A question whose outcome differs: ``kind`` is lost, won or moved; the first hits are page and score."""

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
    """Pages or chunks of one kind: the first ``MOST_LISTED`` and the number of all."""

    words: str
    tone: str
    names: Sequence[str]
    total: int


def comparison_page(comparison: RunComparison, neighbours: KeptNeighbours | None = None) -> bytes:
    """The page in UTF-8; ``neighbours`` of two indexes that stand side by side."""
    badge, tone = _BADGES[comparison.exit_code]
    changes = comparison.changes
    about = [] if neighbours is None else _about_indexes(comparison, neighbours)
    view = SimpleNamespace(
        badge=badge,
        tone=tone,
        sentence=change_sentence(changes),
        reason=comparison.no_regression.reason,
        suite=comparison.after[1].suite,
        sides=[_side("before", *comparison.before), _side("after", *comparison.after)],
        about=about,
        changes=whole_changes(changes),
        criteria=sorted(map(_criterion, changes.criteria), key=lambda row: (not row.verdict, row.tone != "bad")),
        metrics=comparison.answers.changes,
        questions=sorted(_questions(comparison), key=lambda row: ("lost", "won", "moved", "set aside").index(row.kind)),
        asked=len(comparison.answers.pairing.same),
        findings=[_finding(change) for change in changes.findings],
        uncompared=changes.groups_uncompared,
        listings=_listings(comparison),
        moved=[] if neighbours is None else [(percent(share), page) for page, share in neighbours.moved[:MOST_LISTED]],
    )
    return environment().get_template("comparison.html.j2").render(view=view).encode()


def _side(label: str, name: str, report: ValidationReport) -> SimpleNamespace:
    return SimpleNamespace(
        label=label,
        name=name,
        verdict=verdict_words(report),
        tone={"pass": "good", "not_measured": "none"}.get(report.verdict, "bad"),
        collection=report.collection_name,
        chunks=report.quality_metrics.total_chunks,
        timestamp=report.timestamp,
    )


def _about_indexes(comparison: RunComparison, neighbours: KeptNeighbours) -> list[str]:
    told = [f"What the questions can show: {power_words(len(comparison.answers.pairing.same))}."]
    if neighbours.mean is not None:
        nearest = f"{NEIGHBOURS} nearest pages of {plural(neighbours.pages, 'page')}"
        told.insert(0, f"{percent(neighbours.mean)} of the {nearest} are the same in both indexes.")
    return told


def _criterion(change: CriterionChange) -> CriterionRow:
    verdict = ""
    if change.verdict_before != change.verdict_after:
        now = change.verdict_after
        verdict = "no longer a criterion" if now is None else f"now {now.replace('_', ' ')}"
    return CriterionRow(
        criterion_name(change.name),
        change.name,
        show_measured(change.name, change.before),
        show_measured(change.name, change.after),
        "plain" if change.better is None else "good" if change.better else "bad",
        verdict,
    )


def _questions(comparison: RunComparison) -> Iterable[QuestionRow]:
    pairing = comparison.answers.pairing
    pairs = {new.query_id: (old, new) for old, new in (*pairing.same, *pairing.restated)}
    for row in query_changes(comparison.answers):
        old, new = pairs[row["query_id"]]
        kind = "set aside" if row["set_aside"] else _kind(old, new)
        yield QuestionRow(
            kind=kind,
            tone={"lost": "bad", "won": "good"}.get(kind, "plain"),
            query_id=new.query_id,
            text=str(row["query_text"] or ""),
            before=show_score(old.best_similarity),
            after=show_score(new.best_similarity),
            first_before=_first(old.top_results),
            first_after=_first(new.top_results),
            why=row["set_aside"] or (new.fail_reason if kind == "lost" else "") or "",
        )
    for query in pairing.vanished:
        told = "passed before, counts as failed now" if query.passed else "asked before only"
        yield QuestionRow(
            "lost" if query.passed else "set aside",
            "bad" if query.passed else "plain",
            query.query_id,
            str(query.query.get("query_text") or ""),
            show_score(query.best_similarity),
            "-",
            _first(query.top_results),
            "",
            told,
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
    tone = "good" if change.is_better else {"error": "bad"}.get(change.severity, change.severity)
    return FindingRow(f"{title_of(change.code)}{scope}", change.code, tone, change.words, change.new, change.gone)


def _listings(comparison: RunComparison) -> list[Listing]:
    changes, turnover = comparison.changes, comparison.answers.turnover
    kinds: list[tuple[str, str, Sequence[str]]] = [
        ("pages without chunks now", "bad", changes.pages_missing),
        ("pages with chunks now, without before", "good", changes.pages_indexed),
    ]
    if turnover is not None:
        kinds.append(("pages whose chunks changed", "plain", turnover.pages_changed))
    if comparison.chunks is not None:
        named: dict[str, list[str]] = {"changed": [], "removed": [], "added": []}
        for chunk in comparison.chunks:
            kind = "added" if chunk.before is None else "removed" if chunk.after is None else "changed"
            named[kind].append(f"{chunk.before or chunk.after}, {chunk.page or 'of no page'}")
        kinds += [(f"chunks {kind}", "plain", names) for kind, names in named.items()]
    return [Listing(words, tone, names[:MOST_LISTED], len(names)) for words, tone, names in kinds if names]
