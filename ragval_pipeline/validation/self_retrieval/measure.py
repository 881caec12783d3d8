"""From the answers to self queries: how many pages find themselves, and which nothing finds.

What lives here: the criterion ``self_retrieval`` and ``retrieval.dark_page``. What does not: choosing and asking the
queries, and chunks that everything finds (``hubs``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.answers import Answer
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.quality import distribution
from ragval_pipeline.validation.self_retrieval.hubs import PageOf, hub_findings
from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage, OwnQuery

ASSET = "self_retrieval"


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
    named = [query for query in queries if query.kind in {"title", "heading"}]
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
        "queries": len(named),
        "title_scores": scores,
        "title_score_distribution": distribution(scores).model_dump(),
    }
    findings = [*_dark(pages, queries, found), *hub_findings(pages, named, answers, page_of, points)]
    return Measurement(
        asset=ASSET,
        values=(_value(pages, queries, found),),
        findings=tuple(findings),
        sections={"self_retrieval": section},
    )


def unfound_pages(queries: Sequence[OwnQuery], answers: Mapping[str, Answer], page_of: PageOf) -> list[str]:
    """Canonical forms of the pages that none of their queries finds."""
    found = {query.key for query in queries if _finds(answers[query.id], query.key, page_of)}
    return [key for key in dict.fromkeys(query.key for query in queries) if key not in found]


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
    """Pages that neither names nor words of their own find; titles that others share say nothing."""
    asked: dict[str, list[OwnQuery]] = {}
    for query in queries:
        asked.setdefault(query.key, []).append(query)
    subjects = [
        Subject(name=pages[key].url, page=key, details={"asked": [query.text for query in own]})
        for key, own in asked.items()
        if any(query.unique for query in own) and not any(found[query.id] for query in own)
    ]
    return [make_finding("retrieval.dark_page", subjects)] if subjects else []
