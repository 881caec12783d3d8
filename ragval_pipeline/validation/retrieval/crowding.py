"""Answers that say one thing several times: ``retrieval.crowded_top_k``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.reader import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.retrieval.hits import HitReader
from ragval_pipeline.validation.retrieval.outcome import Outcome
from ragval_pipeline.validation.retrieval.rankings import page_ranking
from ragval_pipeline.validation.retrieval.texts import fold_text
from ragval_pipeline.validation.thresholds import FEWEST, MOST, NEAR_DUPLICATE


def crowded_answers(queries: Sequence[TestQuery], answers: Mapping[str, Answer], read: HitReader) -> list[Subject]:
    """Queries whose top k is filled by repetitions, or by one right page while another right page waits behind it.

    A question about one page may well be answered by that page alone: that is no crowd.
    """
    subjects = []
    for query in queries:
        answer = answers.get(query.id)
        if answer is None or query.negative or len(answer.hits) < FEWEST:
            continue
        repeated = _repeated(answer.hits, read)
        waiting = _crowded_out(query, answer, read)
        if repeated >= MOST * len(answer.hits) or waiting:
            details = {"hits": len(answer.hits), "repeated": repeated, "crowded_out": waiting}
            points = [hit.id for hit in answer.hits]
            subjects.append(Subject(name=query.id, details={**details, "points": points}, points=tuple(points)))
    return subjects


@detector("retrieval.crowded_top_k", needs=Outcome)
def _crowded(outcome: Outcome) -> list[Subject]:
    return crowded_answers(outcome.queries, outcome.answers, outcome.settings.rules.read)


def _repeated(hits: Sequence[Hit], read: HitReader) -> int:
    """Hits whose text nearly equals that of a better hit; a hit without words repeats nothing."""
    kept: list[frozenset[tuple[str, ...]]] = []
    repeated = 0
    for triples in (_triples(read.text(hit.payload, "text") or "") for hit in hits):
        if any(_alike(triples, other) for other in kept):
            repeated += 1
        elif triples:
            kept.append(triples)
    return repeated


def _triples(text: str) -> frozenset[tuple[str, ...]]:
    words = fold_text(text).split()
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)} if words else ())


def _alike(one: frozenset[tuple[str, ...]], two: frozenset[tuple[str, ...]]) -> bool:
    return bool(one) and len(one & two) >= NEAR_DUPLICATE * len(one | two)


def _crowded_out(query: TestQuery, answer: Answer, read: HitReader) -> list[str]:
    """Relevant pages that the collection ranks, behind a top k that one relevant page fills."""
    relevant = {read.page_key(url) for url, grade in query.grades.items() if grade > 0}
    filling = {read.page(hit.payload) for hit in answer.hits}
    if len(filling) != 1 or not filling <= relevant:
        return []
    ranked = page_ranking(answer, read, depth=len(answer.hits) + len(answer.deeper))
    asked = {read.page_key(url): url for url in query.grades}
    return sorted(asked[page] for page in ranked if page in relevant - filling)
