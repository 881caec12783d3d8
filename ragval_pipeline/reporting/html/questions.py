"""The test questions in report.html: a row for each, with the rank of the right page, the top hit, and all scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from ragval_pipeline.reporting.bundle import DIAGNOSIS, ReportBundle
from ragval_pipeline.reporting.questions import as_expected, grades_of, page_key
from ragval_pipeline.reporting.subjects import where_beyond
from ragval_pipeline.rules.query.failed import without_found
from ragval_pipeline.text.display import one_line, shorten
from ragval_pipeline.text.numbers import show_score
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.retrieval.texts import fold_text, word_places

#: Maximum rows, and hits of all rows: beyond them a browser takes seconds to open the page.
MOST_ROWS = 2_000
MOST_HITS = 3_000
#: Characters of each hit's text.
_EXCERPT = 300
#: Conditions that a query may miss, in words.
_MISSED = {
    "score": "score too low", "url": "page not found", "module": "module not found", "chapter": "chapter not found",
    "keywords": "no expected word", "results": "result not found",
}  # fmt: skip
#: Characters shown before the first expected word if it is far from the start.
_BEFORE = 60


@dataclass(frozen=True)
class Piece:
    """A piece of an excerpt; ``marked``: an expected word."""

    text: str
    marked: bool = False


@dataclass(frozen=True)
class HitRow:
    """A hit: its text with the expected words marked, and what about it is as expected (``page``, ``module``, ...)."""

    hit: TopResult
    text: list[Piece]
    right: list[str]


@dataclass(frozen=True)
class QueryRow:
    """A query in report.html.

    Attributes:
        query: The query and its result.
        anchor: Its anchor on the page.
        threshold: The score that it must reach; None: unknown.
        expects: Its expectations, each with its kind.
        shown: Number of hits shown.
        first_right: Rank of the first right hit; None: none.
        right: How each hit is as expected.
        place: Rank of the right page, among the hits or beyond; None: not found, or nothing is expected.
        where: Where the right page is, for a failed query.
    """

    query: QueryReport
    anchor: str
    threshold: float | None
    expects: list[tuple[str, str]]
    shown: int
    first_right: int | None
    right: list[list[str]]
    place: int | None
    where: str

    @property
    def negative(self) -> bool:
        """Whether it must find nothing."""
        return bool(self.query.query.get("negative"))

    @property
    def critical(self) -> bool:
        """Whether its failure fails the run."""
        return bool(self.query.query.get("critical"))

    @property
    def tone(self) -> str:
        """Its style: ``good``, ``bad``, or ``none`` if not judged."""
        return "good" if self.query.passed else "bad" if self.query.passed is False else "none"

    @property
    def hits(self) -> Iterator[HitRow]:
        """The hits shown, generated when written: their texts are most of a large page."""
        words = [str(word) for word in _listed(self.query.query.get("expected_keywords")) if word]
        for hit, reasons in zip(self.query.top_results[: self.shown], self.right, strict=False):
            yield HitRow(hit, excerpt(hit.chunk_text or "", words, _EXCERPT), reasons)

    @property
    def failed_by(self) -> str:
        """What it missed, in words."""
        missed = [_MISSED.get(name, name) for name in self.query.failed_conditions]
        return ", ".join(missed) or self.query.status.replace("_", " ")

    @property
    def why(self) -> str:
        """Why it failed, without the addresses shown below."""
        return without_found(self.query.fail_reason or "")

    @property
    def left_out(self) -> int:
        """Number of hits not shown."""
        return len(self.query.top_results) - self.shown


def query_rows(questions: Iterable[tuple[int, QueryReport]], bundle: ReportBundle) -> list[QueryRow]:
    """The rows of the questions of a document; at most ``MOST_ROWS``."""
    key, left, rows = page_key(bundle), MOST_HITS, []
    for index, query in islice(questions, MOST_ROWS):
        shown = min(len(query.top_results), left)
        left -= shown
        rows.append(_query_row(query, index, bundle, shown, key))
    return rows


def score_scale(bundle: ReportBundle) -> float | None:
    """The score of a full bar; None for distances, for which longer would not mean better."""
    scores = [hit.similarity_score for query in bundle.report.query_results for hit in query.top_results]
    return max(1.0, *scores) if scores and bundle.higher_is_better else None


def _query_row(query: QueryReport, index: int, bundle: ReportBundle, shown: int, key: Callable[[str], str]) -> QueryRow:
    given = query.query
    # The suite may have changed when a stored run is rendered again; queries without a score condition have none.
    stated = given.get("min_similarity", bundle.setting("retrieval", "min_similarity"))
    threshold = query.held_to.min_similarity if query.held_to else stated
    right = [as_expected(hit, query, bundle, key) for hit in query.top_results]
    asked = _asked_place(query, grades_of(query, bundle, key))
    first = next((hit.rank for hit, reasons in zip(query.top_results, right, strict=True) if asked in reasons), None)
    located = (bundle.extras.get(DIAGNOSIS) or {}).get(query.query_id, {})
    return QueryRow(
        query=query,
        anchor=f"query-{index + 1}",
        threshold=threshold if isinstance(threshold, int | float) else None,
        expects=_expectations(given),
        shown=shown,
        first_right=first,
        right=right,
        place=first if first is not None else located.get("rank"),
        where=_where(query, first, located) if query.counted and query.passed is False else "",
    )


def _asked_place(query: QueryReport, grades: Mapping[str, int]) -> str:
    """How the right hit is recognised: by page if the query names any, else by chapter, else by module."""
    if any(grade > 0 for grade in grades.values()):
        return "page"
    return "chapter" if query.query.get("expected_chapter") else "module"


def _where(query: QueryReport, first: int | None, located: Mapping[str, Any]) -> str:
    """Where the right page is: ``at place 9 with 0.510; place 5 has 0.530``."""
    if query.query.get("negative") or not query.top_results:
        return ""
    if first is None:
        return f"The right page is {where_beyond(query, located)}." if located else ""
    score = next(hit.similarity_score for hit in query.top_results if hit.rank == first)
    held = query.held_to.min_similarity if query.held_to and query.failed_conditions == ["score"] else None
    needed = "" if held is None else f"; {held:g} is asked"
    return f"The right page is at place {first} with {show_score(score)}{needed}."


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _expectations(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = {
        "expected_module": "module", "expected_chapter": "chapter", "relevant_urls": "page",
        "acceptable_urls": "or page", "expected_keywords": "keyword", "expected_results": "result",
    }  # fmt: skip
    return [(label, str(entry)) for field, label in names.items() for entry in _listed(given.get(field)) if entry]


def excerpt(text: str, words: Sequence[str], length: int) -> list[Piece]:
    """About ``length`` characters of ``text`` on one line, from its beginning or from just before the first word.

    Args:
        text: Any text.
        words: Expected words; matched as whole words, ignoring case and accents.
        length: Maximum characters, without ellipses.
    """
    line = one_line(text)
    spans = _spans(line, words)
    start = _start(line, spans, length)
    shown = shorten(line[start:], length)
    pieces = [Piece("…")] if start else []
    # The ellipsis at the end is not part of the line.
    return pieces + _pieces(
        shown, [(first - start, last - start) for first, last in spans], len(shown.removesuffix("…"))
    )


def _start(line: str, spans: Sequence[tuple[int, int]], length: int) -> int:
    if len(line) <= length or not spans or spans[0][1] < length:
        return 0
    blank = line.find(" ", max(spans[0][0] - _BEFORE, 0), spans[0][0])
    return blank + 1 if blank >= 0 else spans[0][0]


def _pieces(shown: str, spans: Sequence[tuple[int, int]], length: int) -> list[Piece]:
    pieces, at = [], 0
    for first, last in spans:
        if last > length:
            break
        pieces += [Piece(shown[at:first]), Piece(shown[first:last], marked=True)]
        at = last
    return [piece for piece in [*pieces, Piece(shown[at:])] if piece.text]


def _spans(line: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of the words as (start, end), end exclusive, in order, without nesting."""
    folded, places = _folded(line) if words else ("", ())
    found = sorted((at, -at - len(fold_text(word))) for word in words for at in word_places(folded, word))
    spans: list[tuple[int, int]] = []
    for first, minus_last in found:
        span = places[first], places[-minus_last - 1] + 1
        if not spans or span[0] >= spans[-1][1]:
            spans.append(span)
    return spans


def _folded(line: str) -> tuple[str, Sequence[int]]:
    """The line folded character by character, and the original position of each folded character."""
    if line.isascii():
        return line.lower(), range(len(line))
    parts = [_fold_character(character) for character in line]
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


@cache
def _fold_character(character: str) -> str:
    return " " if character.isspace() else fold_text(character)
