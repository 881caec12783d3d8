"""Why queries fail: rank of the right page beyond the hits, and whether queries are embedded as queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.embedder.input_type import RULE as INPUT_TYPE
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.retrieval.conditions import Rules, hits_in_module
from ragval_pipeline.validation.retrieval.hits import expected_pages, has_ground_truth
from ragval_pipeline.validation.retrieval.texts import chapter_matches
from ragval_pipeline.validation.thresholds import NOISE

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder, InputType


#: Failed queries searched deeper, and maximum hits of each.
MOST_DIAGNOSED = 100  # work
DEEPEST = 200  # work

#: Finds the first hits for a query.
Search = Callable[[TestQuery, int], Sequence[Hit]]


def diagnose(
    queries: Sequence[TestQuery],
    results: Sequence[QueryReport],
    answers: Mapping[str, Answer],
    rules: Rules,
    search: Search,
) -> dict[str, dict[str, Any]]:
    """Rank of the right page for failed queries whose hits do not have it.

    ``results`` are the verdicts in the order of the queries; ``search`` searches deeper than their top_k.

    Returns:
        Query id to ``rank``, ``score``, ``point_id`` and ``source_url`` of the first right hit, all None if it is not
        among the first ``searched`` hits.
    """
    places: dict[str, dict[str, Any]] = {}
    for query, result in zip(queries, results, strict=True):
        answer = answers.get(query.id)
        is_placed = bool(query.expected_module or query.expected_chapter) or has_ground_truth(query)
        if answer is None or result.passed is not False or query.negative or not is_placed:
            continue
        if len(places) >= MOST_DIAGNOSED:
            break
        if not answer.hits or _first_right(query, answer.hits, rules) is not None:
            continue
        known = [*answer.hits, *answer.deeper]
        hits = known if _first_right(query, known, rules) is not None else search(query, DEEPEST)
        places[query.id] = _located(_first_right(query, hits, rules), len(hits), rules)
    return places


def _first_right(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> tuple[int, Hit] | None:
    """The first hit on a page that the query expects; without expected pages, in its chapter, else its module."""
    pages = expected_pages(query, rules.read.page_key)
    for rank, hit in enumerate(hits, start=1):
        if pages:
            right = rules.read.page(hit.payload) in pages
        elif query.expected_chapter:
            right = chapter_matches(query.expected_chapter, rules.read.text(hit.payload, "chapter") or "")
        else:
            right = bool(hits_in_module(query, [hit], rules))
        if right:
            return rank, hit
    return None


def _located(found: tuple[int, Hit] | None, searched: int, rules: Rules) -> dict[str, Any]:
    if found is None:
        return {"rank": None, "score": None, "point_id": None, "source_url": None, "searched": searched}
    rank, hit = found
    url = rules.read.text(hit.payload, "source_url")
    return {"rank": rank, "score": hit.score, "point_id": hit.id, "source_url": url, "searched": searched}


@dataclass(frozen=True)
class QueryEmbedding:
    """How queries are embedded.

    Attributes:
        embedder: Cohere's models from version 3 are known to distinguish queries from documents; others are tested.
        input_type: The suite's ``embedding.query_input_type``.
        text: The text for the test.
    """

    embedder: Embedder
    input_type: InputType
    text: str


@detector(INPUT_TYPE, needs=QueryEmbedding)
def find_input_type(asked: QueryEmbedding) -> Iterator[Finding]:
    """Queries embedded as documents by a model that distinguishes the two.

    Raises:
        SystemFailure: The embedder fails.
    """
    embedder, input_type = asked.embedder, asked.input_type
    if input_type == "search_query" or not (embedder.provider == "cohere" or _tells_apart(embedder, asked.text)):
        return
    details = {"query_input_type": input_type, "provider": embedder.provider, "model": embedder.model}
    message = f"Queries are embedded with input type {input_type}, and {embedder.model} embeds queries differently."
    yield make_finding(INPUT_TYPE.code, ["embedding.query_input_type"], details=details, message=message)


def _tells_apart(embedder: Embedder, text: str) -> bool:
    from ragval_pipeline.sources.embedders.cache import asked_anew

    with asked_anew(embedder):
        query, document = (
            embedder.embed([text], input_type=input_type).vectors[0].astype(np.float64)
            for input_type in ("search_query", "search_document")
        )
    lengths = float(np.linalg.norm(query) * np.linalg.norm(document))
    return lengths > 0 and float(query @ document) / lengths < 1 - NOISE
