"""Rankings of pages, as evaluation tools read them: run and qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.retrieval.hits import HitReader

Run = dict[str, list[str]]
Qrels = dict[str, dict[str, int]]

#: What stands before the point id in a ranking where a hit has no page.
NO_ADDRESS = "no address: "


def page_ranking(answer: Answer, read: HitReader, *, depth: int) -> list[str]:
    """The first ``depth`` distinct pages, best first: a page stands where its best chunk stands.

    A hit without an address takes a rank of its own, under a name that no judgement has: readers see it there too.
    """
    hits = (*answer.hits, *answer.deeper)
    return list(dict.fromkeys(read.page(hit.payload) or f"{NO_ADDRESS}{hit.id}" for hit in hits))[:depth]


def page_run(queries: Iterable[TestQuery], answers: Mapping[str, Answer], read: HitReader, *, depth: int) -> Run:
    """Page rankings of the positive queries with ground truth; an empty list where nothing came back."""
    return {
        query.id: page_ranking(answers[query.id], read, depth=depth) if query.id in answers else []
        for query in queries
        if has_ground_truth(query)
    }


def page_qrels(queries: Iterable[TestQuery], read: HitReader) -> Qrels:
    """Relevance grades of pages by canonical form, for positive queries with ground truth.

    Relevant pages have grade 2, acceptable ones 1, and judgements of a qrels file keep theirs; where two spellings of
    a page are judged, the higher grade stands.
    """
    qrels: Qrels = {}
    for query in queries:
        if has_ground_truth(query):
            grades = qrels.setdefault(query.id, {})
            for url, grade in query.grades.items():
                page = read.page_key(url)
                grades[page] = max(grade, grades.get(page, grade))
    return qrels


def has_ground_truth(query: TestQuery) -> bool:
    """Whether a query counts for page metrics: positive, with at least one relevant page."""
    return not query.negative and any(grade > 0 for grade in query.grades.values())


def relevant_pages(grades: Mapping[str, int]) -> list[str]:
    """Judged pages that are relevant at all."""
    return [page for page, grade in grades.items() if grade > 0]


def first_relevant(ranking: Sequence[str], grades: Mapping[str, int]) -> int | None:
    """Rank (from 1) of the first relevant page; null when there is none."""
    return next((rank for rank, page in enumerate(ranking, 1) if grades.get(page, 0) > 0), None)
