"""The suite's settings for queries, and the expectations of a query, condition by condition."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.factory import NAMED, PASSAGE, QUOTED
from ragval_pipeline.rules.query.failed import with_found
from ragval_pipeline.sources.search.answers import Question
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.scores import reaches
from ragval_pipeline.text.printing import printable
from ragval_pipeline.validation.retrieval.hits import HitReader, expected_pages, has_ground_truth
from ragval_pipeline.validation.retrieval.texts import (
    ModuleMatch,
    chapter_matches,
    fold_text,
    holds_word,
    name_matches,
)


@dataclass(frozen=True)
class Rules:
    """How hits are read and matched.

    Attributes:
        read: Reads hits.
        module_match: How modules are compared.
        min_similarity: Default threshold.
        higher_is_better: False for distances.
        results_reach_threshold: Whether keywords count only in hits that reach the query's threshold.
    """

    read: HitReader
    module_match: ModuleMatch
    min_similarity: float
    higher_is_better: bool = True
    results_reach_threshold: bool = False

    def threshold(self, query: TestQuery) -> float:
        """The query's own threshold, else the suite's."""
        return self.min_similarity if query.min_similarity is None else query.min_similarity

    def reaches(self, score: float, threshold: float) -> bool:
        """Whether a score is at least as good as the threshold."""
        return reaches(score, threshold, higher=self.higher_is_better)


@dataclass(frozen=True)
class RetrievalSettings:
    """Retrieval settings of the suite.

    Attributes:
        rules: How hits are read and matched.
        judge: Conditions that decide, or None.
        ranks: The k of the page metrics.
        top_k: Hits per query, unless the query has its own.
        relevance_similarity: Score from which a hit counts as relevant; None: unknown for these scores.
        distance: Of the collection.
    """

    rules: Rules
    judge: tuple[str, ...] | None
    ranks: tuple[int, ...]
    top_k: int
    relevance_similarity: float | None
    distance: Distance = "Cosine"

    @property
    def depth(self) -> int:
        """Pages in a ranking: the maximum of all ranks and top_k."""
        return max((*self.ranks, self.top_k))


def questions_of(queries: Sequence[TestQuery], settings: RetrievalSettings) -> list[Question]:
    """The queries to run: page rankings are only needed with ground truth."""
    return [
        Question(
            query.id,
            query.query_text,
            query.top_k or settings.top_k,
            pages=settings.depth if has_ground_truth(query) else 0,
            equal=query.filter,
        )
        for query in queries
    ]


@dataclass(frozen=True)
class Outcome:
    """Whether one condition is met, and a sentence that says why not."""

    holds: bool
    why_not: str = ""


def best_score(hits: Sequence[Hit], rules: Rules) -> float | None:
    """The best score among the hits; None without a finite one."""
    scores = [hit.score for hit in hits if math.isfinite(hit.score)]
    if not scores:
        return None
    return max(scores) if rules.higher_is_better else min(scores)


def _score(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> Outcome:
    best, threshold = best_score(hits, rules), rules.threshold(query)
    if best is None:
        return Outcome(False, "no hit has a score")
    missed = f"best similarity {best:.4f} is below" if rules.higher_is_better else f"best distance {best:.4f} is above"
    return Outcome(rules.reaches(best, threshold), f"{missed} {threshold:g}")


def _module(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> Outcome:
    found = [name for hit in hits if (name := rules.read.text(hit.payload, "module"))]
    holds = bool(hits_in_module(query, hits, rules))
    return Outcome(holds, with_found(f"no hit is in module {query.expected_module!r}", _listed(found)))


def hits_in_module(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> list[Hit]:
    """The hits in the module that a query expects, in the order of ``hits``."""
    expected = query.expected_module or ""
    names = [(hit, rules.read.text(hit.payload, "module")) for hit in hits]
    return [hit for hit, name in names if name and name_matches(expected, name, mode=rules.module_match)]


def _chapter(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> Outcome:
    expected = query.expected_chapter or ""
    found = [name for hit in hits if (name := rules.read.text(hit.payload, "chapter"))]
    holds = any(chapter_matches(expected, name) for name in found)
    return Outcome(holds, with_found(f"no hit is in chapter {expected!r}", _listed(found)))


def _url(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> Outcome:
    wanted = expected_pages(query, rules.read.page_key)
    holds = any(rules.read.page(hit.payload) in wanted for hit in hits)
    found = [url for hit in hits if (url := rules.read.text(hit.payload, "source_url"))]
    # Page metrics look further: the top_k chunks may all be of one page, followed by the relevant one.
    chunks = "the returned chunk is not" if len(hits) == 1 else f"none of the {len(hits)} returned chunks is"
    return Outcome(holds, with_found(f"{chunks} on a relevant page", _listed(found)))


def _keywords(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> Outcome:
    threshold = rules.threshold(query)
    which = f"no hit that reaches {threshold:g}" if rules.results_reach_threshold else "no hit"
    results = [hit for hit in hits if not rules.results_reach_threshold or rules.reaches(hit.score, threshold)]
    found = found_keywords(query.expected_keywords, results, rules)
    return Outcome(bool(found), f"{which} holds any of {_listed(query.expected_keywords)}")


def _results(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> Outcome:
    lost = [expected for expected in query.expected_results if not any(matches(expected, hit, rules) for hit in hits)]
    said = f"{len(lost)} of {len(query.expected_results)} expected results are not among the hits"
    return Outcome(not lost, f"{said}: {'; '.join(map(_stated, lost[:NAMED]))}{'; ...' if len(lost) > NAMED else ''}")


def _stated(expected: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {value[:QUOTED] if isinstance(value, str) else value!r}" for key, value in expected.items()
    )


CONDITIONS: dict[str, Callable[[TestQuery, Sequence[Hit], Rules], Outcome]] = {
    "score": _score,
    "module": _module,
    "chapter": _chapter,
    "url": _url,
    "keywords": _keywords,
    "results": _results,
}


def found_keywords(keywords: Sequence[str], hits: Sequence[Hit], rules: Rules) -> list[str]:
    """Keywords found as whole words in the text of any hit."""
    texts = [fold_text(text) for hit in hits if (text := rules.read.text(hit.payload, "text"))]
    return [keyword for keyword in keywords if any(holds_word(text, keyword) for text in texts)]


def matches(expected: Mapping[str, Any], hit: Hit, rules: Rules) -> bool:
    """Whether a hit matches an expected result in all its keys."""
    for key, value in expected.items():
        if key == "id":
            agrees = canonical_id(value) == canonical_id(hit.id)
        elif key == "source_url":
            agrees = rules.read.page_key(str(value)) == rules.read.page(hit.payload)
        elif key == "text":
            agrees = fold_text(str(value)) in fold_text(rules.read.text(hit.payload, "text") or "")
        else:
            stored = rules.read.get(hit.payload, key)
            agrees = stored == value or (stored is not None and str(stored) == str(value))
        if not agrees:
            return False
    return True


def _listed(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(printable(name, limit=PASSAGE) for name in distinct[:NAMED])
    shown += ", ..." if len(distinct) > NAMED else ""
    return shown or "nothing"
