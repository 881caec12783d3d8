"""The test questions of a run for readers: their order, what they expect, and why scores may be low."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.rules.query.threshold_unfit import RULE as THRESHOLD_UNFIT
from ragval_pipeline.sources.site.urls import UrlFolder
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.retrieval.texts import ModuleMatch, chapter_matches, name_matches


def ordered(queries: Sequence[QueryReport]) -> Iterator[tuple[int, QueryReport]]:
    """The queries with their numbers in the report: those that failed, then those that passed, then those not counted.

    Each is made when it is read, and none is kept.
    """
    later: dict[int, set[int]] = {1: set(), 2: set()}
    for number, query in enumerate(queries):
        if (weight := _weight(query)) == 0:
            yield number, query
        else:
            later[weight].add(number)
    for numbers in later.values():
        if numbers:
            yield from (entry for entry in enumerate(queries) if entry[0] in numbers)


def _weight(query: QueryReport) -> int:
    if query.counted and query.passed is not True:
        return 0
    return 1 if query.counted else 2


def page_key(bundle: ReportBundle) -> Callable[[str], str]:
    """The canonicaliser of page addresses as used by the run."""
    return (bundle.inventory.folder() if bundle.inventory else UrlFolder()).key


def grades_of(query: QueryReport, bundle: ReportBundle, key: Callable[[str], str]) -> Mapping[str, int]:
    """The pages that a query expects, with grades; for a draft, which is not judged, from the query itself."""
    judged = bundle.judgements.get(query.query_id)
    if judged is not None or query.counted:
        return judged or {}
    return {key(str(url)): 1 for name in ("relevant_urls", "acceptable_urls") for url in query.query.get(name) or ()}


def as_expected(hit: TopResult, query: QueryReport, bundle: ReportBundle, key: Callable[[str], str]) -> list[str]:
    """The parts of a hit that match the query's expectation: ``page``, ``module``, ``chapter``."""
    module, chapter = query.query.get("expected_module"), query.query.get("expected_chapter")
    grades = grades_of(query, bundle, key)
    mode: ModuleMatch = bundle.setting("retrieval", "module_match") or "normalised"
    found = {
        "page": hit.source_url is not None and grades.get(key(hit.source_url), 0) > 0,
        "module": bool(module and hit.module_name) and name_matches(str(module), hit.module_name or "", mode=mode),
        "chapter": bool(chapter and hit.chapter_id) and chapter_matches(str(chapter), hit.chapter_id or ""),
    }
    return [name for name, holds in found.items() if holds]


def score_note(bundle: ReportBundle) -> str | None:
    """Why scores below the threshold are no problem of this index; None if they are not the reason of failure."""
    report = bundle.report
    unfit = next((finding for finding in report.findings if finding.code == THRESHOLD_UNFIT.code), None)
    if unfit is not None:
        return f"{unfit.message} {_ADVICE}"
    key = page_key(bundle)
    scores = [
        query.best_similarity
        for query in report.query_results
        if query.failed_conditions == ["score"]
        and query.best_similarity is not None
        and not query.query.get("negative")
        and any(as_expected(hit, query, bundle, key) for hit in query.top_results)
    ]
    if not scores:
        return None
    return (
        f"{plural(len(scores), 'query')} found the expected result and missed only the score threshold: best scores "
        f"{score_range(scores)}. {_ADVICE}"
    )


_ADVICE = (
    "Scores are not grades: each embedding model has its own score range, and a threshold fits only one model. "
    "ragval calibrate proposes one from this index's own scores."
)


def score_range(scores: Sequence[float]) -> str:
    """The lowest and the highest score."""
    low, high = f"{min(scores):.2f}", f"{max(scores):.2f}"
    return low if low == high else f"{low} to {high}"
