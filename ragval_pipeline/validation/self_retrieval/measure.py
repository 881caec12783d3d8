"""From the answers to self queries: pages that nothing finds, and chunks that everything finds.

What lives here: the criterion ``self_retrieval``, ``retrieval.dark_page`` and ``retrieval.hub_chunk``. What does not:
choosing and asking the queries.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.answers import Answer
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.quality import distribution
from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage, OwnQuery

ASSET = "self_retrieval"
#: A chunk is a hub when it is among the hits of this share of the queries of other pages, of at least this many
#: queries, and this many times as often as chunks are on average. On a book of 91 chunks and 91 headings, clean chunks
#: reach at most 9 % (1.6 times the average), and 2.6 times where others were joined; a chunk that lists all headings 14
#: to 21 % (2.6 to 3.8 times), a mean vector 47 % (9 times).
HUB_SHARE = 0.12
HUB_QUERIES = 10
HUB_TIMES_EXPECTED = 3.0

PageOf = Callable[[Mapping[str, Any]], str | None]


def measure_self_retrieval(
    pages: Mapping[str, OwnPage],
    queries: Sequence[OwnQuery],
    answers: Mapping[str, Answer],
    page_of: PageOf,
    *,
    points: int,
) -> Measurement:
    """The measurement of ``self_retrieval``.

    Args:
        pages: In-scope indexed pages by canonical form.
        queries: What was asked.
        answers: By query id.
        page_of: Canonical page of a hit's payload.
        points: Points of the collection.
    """
    found = {query.id: _finds(answers[query.id], query.key, page_of) for query in queries}
    scores = [
        answer.hits[0].score
        for query in queries
        if query.kind == "title"
        and found[query.id]
        and (answer := answers[query.id]).hits
        # What is no number is ``retrieval.invalid_order``, and no threshold can be learnt from it.
        and math.isfinite(answer.hits[0].score)
    ]
    section = {
        "pages": len(pages),
        "queries": len(queries),
        "title_scores": scores,
        "title_score_distribution": distribution(scores).model_dump(),
    }
    findings = [*_dark(pages, queries, found), *_hubs(pages, queries, answers, page_of, points)]
    return Measurement(
        asset=ASSET,
        values=(_value(pages, queries, found),),
        findings=tuple(findings),
        sections={"self_retrieval": section},
    )


def _finds(answer: Answer, key: str, page_of: PageOf) -> bool:
    return any(page_of(hit.payload) == key for hit in answer.hits)


def _value(pages: Mapping[str, OwnPage], queries: Sequence[OwnQuery], found: Mapping[str, bool]) -> MeasuredValue:
    titles = [query for query in queries if query.kind == "title"]
    if not pages:
        return not_measured("self_retrieval", "not_applicable", "no indexed page is known to be in scope")
    if not titles:
        return not_measured(
            "self_retrieval",
            "not_applicable",
            "no page has a title or heading, in the payload or on the site",
        )
    return ratio("self_retrieval", sum(found[query.id] for query in titles), len(titles), of="pages with a title")


def _dark(pages: Mapping[str, OwnPage], queries: Sequence[OwnQuery], found: Mapping[str, bool]) -> list[Finding]:
    """Pages that neither their title nor any heading of their own finds; titles that others share say nothing."""
    asked: dict[str, list[OwnQuery]] = {}
    for query in queries:
        if query.unique:
            asked.setdefault(query.key, []).append(query)
    subjects = [
        Subject(name=pages[key].url, page=key, details={"asked": [query.text for query in own]})
        for key, own in asked.items()
        if not any(found[query.id] for query in own)
    ]
    return [make_finding("retrieval.dark_page", subjects)] if subjects else []


def _hubs(
    pages: Mapping[str, OwnPage],
    queries: Sequence[OwnQuery],
    answers: Mapping[str, Answer],
    page_of: PageOf,
    points: int,
) -> list[Finding]:
    """Chunks that other pages' queries find. Of a chunk without a known page every query would be another page's."""
    foreign: Counter[str] = Counter()
    home: dict[str, str] = {}
    hits = 0
    for query in queries:
        for hit in answers[query.id].hits:
            hits += 1
            page = page_of(hit.payload)
            if page is not None and page in pages:
                home[hit.id] = page
                foreign[hit.id] += page != query.key
    expected = hits / points if points else 0.0
    subjects = []
    for point, count in foreign.items():
        others = sum(query.key != home[point] for query in queries)
        if count >= HUB_QUERIES and count >= HUB_SHARE * others and count >= HUB_TIMES_EXPECTED * expected:
            details = {"queries": count, "of": others, "expected": round(expected, 3)}
            subjects.append(Subject(name=point, page=home[point], details=details))
    return [make_finding("retrieval.hub_chunk", subjects)] if subjects else []
