"""Chunks that turn up for queries about everything else.

What lives here: ``retrieval.hub_chunk``. What does not: choosing and asking the queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.answers import Answer
from ragval_pipeline.text.words import words_of
from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage, OwnQuery

#: A chunk is a hub when it is among the hits of this share of the queries of other pages, of at least this many
#: queries, and this many times as often as chunks are on average. On a book of 91 chunks and 91 headings, clean chunks
#: reach at most 9 % (1.6 times the average), and 2.6 times where others were joined; a mean vector reaches 47 % (9
#: times).
HUB_SHARE = 0.12
HUB_QUERIES = 10
HUB_TIMES_EXPECTED = 3.0
#: Queries that share this much of their words (Jaccard) are related and count once: headings that are signatures,
#: titles of a reference. What one of them finds the next finds too.
ALIKE = 0.5
#: Where all queries are alike, as in a reference of classes and methods, a chunk found by this share of them, related
#: or not, is a hub: clean chunks of such references reach 21 %, a chunk that lists all headings 27 to 32 %, and 30 %
#: and more with the titles. It takes this many unrelated ones all the same.
HUB_SHARE_OF_ALIKE = 0.25
FEWEST_UNRELATED = 2
#: Queries of one chunk that are compared with each other at most.
COMPARED = 400

PageOf = Callable[[Mapping[str, Any]], str | None]


def hub_findings(
    pages: Mapping[str, OwnPage],
    queries: Sequence[OwnQuery],
    answers: Mapping[str, Answer],
    page_of: PageOf,
    points: int,
) -> list[Finding]:
    """Chunks that other pages' queries find. Of a chunk without a known page every query would be another page's.

    Args:
        pages: In-scope indexed pages by canonical form.
        queries: What was asked.
        answers: By query id.
        page_of: Canonical page of a hit's payload.
        points: Points of the collection.
    """
    foreign: dict[str, list[OwnQuery]] = {}
    home: dict[str, str] = {}
    hits = 0
    for query in queries:
        for hit in answers[query.id].hits:
            hits += 1
            page = page_of(hit.payload)
            if page is not None and page in pages:
                home[hit.id] = page
                found = foreign.setdefault(hit.id, [])
                if page != query.key:
                    found.append(query)
    expected = hits / points if points else 0.0
    subjects = []
    for point, found in foreign.items():
        others = sum(query.key != home[point] for query in queries)
        needed = max(HUB_QUERIES, HUB_SHARE * others, HUB_TIMES_EXPECTED * expected)
        unrelated = _unrelated(found) if len(found) >= needed else 0.0
        if unrelated >= needed or (unrelated >= FEWEST_UNRELATED and len(found) >= HUB_SHARE_OF_ALIKE * others):
            details = {"queries": len(found), "of": others, "expected": round(expected, 3)}
            subjects.append(Subject(name=point, page=home[point], details=details))
    return [make_finding("retrieval.hub_chunk", subjects)] if subjects else []


def _unrelated(queries: Sequence[OwnQuery]) -> float:
    """How many of the queries are not alike to an earlier one; estimated where there are more than ``COMPARED``."""
    step = -(-len(queries) // COMPARED)
    kept: list[frozenset[str]] = []
    for query in queries[::step]:
        words = frozenset(words_of(query.text))
        if not any(len(words & other) >= ALIKE * len(words | other) for other in kept):
            kept.append(words)
    return len(kept) * len(queries) / len(queries[::step])
