"""The queries as the report's page shows them: a row each, opening to its hits.

What lives here: rows, expectations, how much of a large run is shown, the scale of score bars. What does not: the plot
of the scores (``score_view``) and the rest of the page (``html_view``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.highlight import Piece, excerpt
from ragval_pipeline.sources.urls import UrlFolder
from ragval_pipeline.validation.report import QueryReport, TopResult
from ragval_pipeline.validation.retrieval.texts import ModuleMatch, chapter_matches, name_matches

#: Rows of one page, hits of all rows, and characters of their texts: beyond that a browser takes seconds to open it.
MOST_ROWS = 2_000
MOST_HITS = 3_000
_TEXT_BUDGET = 1_000_000


@dataclass(frozen=True)
class HitRow:
    """A hit: its text with the expected words marked, and what about it is as expected (``page``, ``module``, ...)."""

    hit: TopResult
    text: list[Piece]
    right: list[str]


@dataclass(frozen=True)
class QueryRow:
    """A query, its anchor on the page, the score it must reach (null: none known) and what it expects.

    ``hits`` are the hits that are shown, ``first_right`` the rank of the first one that is as expected.
    """

    query: QueryReport
    anchor: str
    threshold: float | None
    expects: list[tuple[str, str]]
    negative: bool
    critical: bool
    hits: list[HitRow]
    first_right: int | None

    @property
    def left_out(self) -> int:
        """Hits that are not shown."""
        return len(self.query.top_results) - len(self.hits)


def query_rows(bundle: ReportBundle) -> list[QueryRow]:
    """The rows of the page, in file order; of more than ``MOST_ROWS`` queries those that did not pass come first."""
    queries = list(enumerate(bundle.report.query_results))
    if len(queries) > MOST_ROWS:
        queries = sorted(sorted(queries, key=lambda entry: entry[1].passed is True or not entry[1].counted)[:MOST_ROWS])
    shown = _hits_shown([query for _, query in queries])
    length = min(300, max(80, _TEXT_BUDGET // max(sum(shown), 1)))
    key = page_key(bundle)
    return [
        _query_row(query, index, bundle, hits, length, key) for (index, query), hits in zip(queries, shown, strict=True)
    ]


def page_key(bundle: ReportBundle) -> Callable[[str], str]:
    """What folds the spellings of a page's address as the run did."""
    return (bundle.inventory.folder() if bundle.inventory else UrlFolder()).key


def as_expected(hit: TopResult, query: QueryReport, bundle: ReportBundle, key: Callable[[str], str]) -> list[str]:
    """What about a hit is as its query expects: ``page``, ``module``, ``chapter``."""
    module, chapter = query.query.get("expected_module"), query.query.get("expected_chapter")
    grades = bundle.judgements.get(query.query_id, {})
    mode: ModuleMatch = bundle.setting("retrieval", "module_match") or "normalised"
    found = {
        "page": hit.source_url is not None and grades.get(key(hit.source_url), 0) > 0,
        "module": bool(module and hit.module_name) and name_matches(str(module), hit.module_name or "", mode=mode),
        "chapter": bool(chapter and hit.chapter_id) and chapter_matches(str(chapter), hit.chapter_id or ""),
    }
    return [name for name, holds in found.items() if holds]


def score_scale(bundle: ReportBundle) -> float | None:
    """What a full bar of a score stands for; null when scores are distances and longer would not mean better."""
    scores = [hit.similarity_score for query in bundle.report.query_results for hit in query.top_results]
    facts = bundle.manifest.facts if bundle.manifest else None
    vector = facts.vector(bundle.setting("qdrant", "vector_name")) if facts else None
    if not scores or (vector is not None and not vector.higher_is_better):
        return None
    return max(1.0, *scores)


def _hits_shown(queries: Sequence[QueryReport]) -> list[int]:
    """How many hits of each query are shown: all, or at first those of queries that did not pass."""
    counts = [len(query.top_results) for query in queries]
    if sum(counts) <= MOST_HITS:
        return counts
    missed = [query.counted and query.passed is not True for query in queries]
    of_missed = sum(count for count, is_missed in zip(counts, missed, strict=True) if is_missed)
    most_missed = max(counts) if of_missed <= MOST_HITS // 2 else max(MOST_HITS // 2 // sum(missed), 1)
    rest = MOST_HITS - min(of_missed, most_missed * sum(missed))
    most_passed = max(rest // max(len(queries) - sum(missed), 1), 1)
    return [
        min(count, most_missed if is_missed else most_passed) for count, is_missed in zip(counts, missed, strict=True)
    ]


def _query_row(
    query: QueryReport, index: int, bundle: ReportBundle, shown: int, length: int, key: Callable[[str], str]
) -> QueryRow:
    given = query.query
    # The suite may say something else by the time a kept run is rendered again; what is held to no score has none.
    stated = given.get("min_similarity", bundle.setting("retrieval", "min_similarity"))
    threshold = query.held_to.min_similarity if query.held_to else stated
    right = [as_expected(hit, query, bundle, key) for hit in query.top_results]
    words = [str(word) for word in _listed(given.get("expected_keywords")) if word]
    return QueryRow(
        query=query,
        anchor=f"query-{index + 1}",
        threshold=threshold if isinstance(threshold, int | float) else None,
        expects=_expectations(given),
        negative=bool(given.get("negative")),
        critical=bool(given.get("critical")),
        hits=[
            HitRow(hit, excerpt(hit.chunk_text or "", words, length), reasons)
            for hit, reasons in zip(query.top_results[:shown], right, strict=False)
        ],
        first_right=next((hit.rank for hit, reasons in zip(query.top_results, right, strict=True) if reasons), None),
    )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _expectations(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = {
        "expected_module": "module", "expected_chapter": "chapter", "relevant_urls": "page",
        "acceptable_urls": "or page", "expected_keywords": "keyword", "expected_results": "result",
    }  # fmt: skip
    return [(label, str(entry)) for field, label in names.items() for entry in _listed(given.get(field)) if entry]
