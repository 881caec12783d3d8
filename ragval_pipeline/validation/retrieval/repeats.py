"""Results that should be identical when repeated, and results that repeat the same text."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.rules.retrieval.crowded_top_k import RULE as CROWDED_TOP_K
from ragval_pipeline.rules.retrieval.crowded_top_k import Details as Crowded
from ragval_pipeline.rules.retrieval.nondeterministic import RULE as RETRIEVAL_NONDETERMINISTIC
from ragval_pipeline.rules.retrieval.nondeterministic import Details as Unsteady
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.retrieval.hits import HitReader, expected_pages, page_ranking
from ragval_pipeline.validation.retrieval.outcome import Outcome
from ragval_pipeline.validation.retrieval.texts import fold_text
from ragval_pipeline.validation.thresholds import FEWEST, MOST, NEAR_DUPLICATE, ROUNDING

_MOVED = "The embedder gives these queries other vectors each time they are embedded."
_KEEP_VECTORS = (
    "Keep the vectors of repeated queries, or use an embedder that repeats its answers. While ids and order are "
    "the same, readers see no difference."
)


def determinism(answers: Iterable[Answer]) -> MeasuredValue:
    """Share of repeated queries with the same ids, order and scores (within 1e-6) in every repeat.

    Queries that never have any hits say nothing about order and are not counted.
    """
    repeated = [
        answer for answer in answers if answer.repeats and answer.error is None and any((answer.hits, *answer.repeats))
    ]
    if not repeated:
        return not_measured("determinism", "no_data", "no query with hits was repeated")
    same = len(repeated) - len(unstable(repeated))
    return ratio("determinism", same, len(repeated), of="repeated queries")


def _least_overlap(answer: Answer) -> float:
    return min(_overlap(answer.hits, again) for again in answer.repeats)


def unstable(answers: Iterable[Answer]) -> list[Subject]:
    """Queries whose repeats have different results."""
    return [
        Subject(
            name=answer.query_id,
            details=Unsteady(_least_overlap(answer))._asdict(),
        )
        for answer in answers
        if answer.error is None and not all(_same(answer.hits, again) for again in answer.repeats)
    ]


@detector(RETRIEVAL_NONDETERMINISTIC, needs=Outcome)
def _nondeterministic(outcome: Outcome) -> list[Subject]:
    return unstable(outcome.answers.values())


def with_manner(measurement: Measurement, manner: str, moved: Collection[str] = ()) -> Measurement:
    """The measurement, with how repeats were run in the reason of determinism; unchanged without repeats.

    ``moved`` are the queries that the embedder gave another vector when they were repeated.
    """
    values = tuple(
        value.model_copy(update={"reason": f"{value.reason}, {manner}"})
        if value.name == "determinism" and value.value is not None and manner
        else value
        for value in measurement.values
    )
    findings = tuple(
        finding.model_copy(update={"cause": _MOVED, "remedy": _KEEP_VECTORS})
        if finding.code == RETRIEVAL_NONDETERMINISTIC.code
        and {subject.name for subject in finding.subjects} <= set(moved)
        else finding
        for finding in measurement.findings
    )
    return measurement.model_copy(update={"values": values, "findings": findings})


def _same(first: Sequence[Hit], again: Sequence[Hit]) -> bool:
    return len(first) == len(again) and all(
        one.id == two.id and _same_score(one.score, two.score) for one, two in zip(first, again, strict=True)
    )


def _same_score(one: float, two: float) -> bool:
    # Infinity and NaN are ``retrieval.invalid_order``; if repeated they are not a difference too.
    return one == two or abs(one - two) <= ROUNDING or (math.isnan(one) and math.isnan(two))


def _overlap(first: Sequence[Hit], again: Sequence[Hit]) -> float:
    """Share of the ids of either result that both have."""
    one, two = {hit.id for hit in first}, {hit.id for hit in again}
    return len(one & two) / len(one | two) if one | two else 1.0


def crowded_answers(queries: Sequence[TestQuery], answers: Mapping[str, Answer], read: HitReader) -> list[Subject]:
    """Queries whose top k is filled by repetitions, or by one right page while another right page ranks after it.

    A query about a single page may be answered by that page only: that is not crowding.
    """
    subjects = []
    for query in queries:
        answer = answers.get(query.id)
        if answer is None or query.negative or len(answer.hits) < FEWEST:
            continue
        repeated = _repeated(answer.hits, read)
        waiting = _crowded_out(query, answer, read)
        if repeated >= MOST * len(answer.hits) or waiting:
            points = [hit.id for hit in answer.hits]
            details = Crowded(len(points), repeated, waiting, points)._asdict()
            subjects.append(Subject(name=query.id, details=details, points=tuple(points)))
    return subjects


@detector(CROWDED_TOP_K, needs=Outcome)
def _crowded(outcome: Outcome) -> list[Subject]:
    return crowded_answers(outcome.queries, outcome.answers, outcome.settings.rules.read)


def _repeated(hits: Sequence[Hit], read: HitReader) -> int:
    """Hits whose text is nearly that of a better hit, or mostly in better hits of its page.

    The latter is so where chunks overlap much. A hit without words is not a repetition, a chunk does not repeat the
    parent that it was cut from, and a hit none of other partitions: their readers find one of the two.
    """
    above = _ancestors(hits, read)
    apart = _of_other_partitions(hits, read)
    better: list[tuple[str, str | None, frozenset[tuple[str, ...]]]] = []
    repetitions = set[str]()
    for hit in hits:
        triples, page = _triples(read.text(hit.payload, "text") or ""), read.page(hit.payload)
        others = [one for one in better if one[0] not in above[hit.id] | apart[hit.id] and hit.id not in above[one[0]]]
        seen = frozenset[tuple[str, ...]]().union(*(text for _, own, text in others if own == page))
        within = bool(triples) and len(triples & seen) >= NEAR_DUPLICATE * len(triples)
        if within or any(_alike(triples, text) for name, _, text in others if name not in repetitions):
            repetitions.add(hit.id)
        better.append((hit.id, page, triples))
    return len(repetitions)


def _ancestors(hits: Sequence[Hit], read: HitReader) -> dict[str, set[str]]:
    """By id of a hit the hits that it was cut from: its parent, the parent of that, and so on."""
    names = {name: hit.id for hit in hits for name in (read.text(hit.payload, "chunk_id"), hit.id) if name}
    parent = {hit.id: names.get(read.text(hit.payload, "parent_id") or "") for hit in hits}
    found: dict[str, set[str]] = {}
    for name, above in parent.items():
        line, at = set[str](), above
        while at is not None and at not in line:
            line.add(at)
            at = parent[at]
        found[name] = line - {name}
    return found


def _of_other_partitions(hits: Sequence[Hit], read: HitReader) -> dict[str, set[str]]:
    """By id of a hit the hits that no reader finds together with it: both are in partitions, and share none."""
    of = {hit.id: read.partitions(hit.payload) for hit in hits}
    return {
        name: {other for other, theirs in of.items() if own and theirs and own.isdisjoint(theirs)}
        for name, own in of.items()
    }


def _triples(text: str) -> frozenset[tuple[str, ...]]:
    words = fold_text(text).split()
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)} if words else ())


def _alike(one: frozenset[tuple[str, ...]], two: frozenset[tuple[str, ...]]) -> bool:
    return bool(one) and len(one & two) >= NEAR_DUPLICATE * len(one | two)


def _crowded_out(query: TestQuery, answer: Answer, read: HitReader) -> list[str]:
    """Relevant pages that rank after a top k filled by one relevant page."""
    relevant = expected_pages(query, read.page_key)
    filling = {read.page(hit.payload) for hit in answer.hits}
    if len(filling) != 1 or not filling <= relevant:
        return []
    ranked = page_ranking(answer, read, depth=len(answer.hits) + len(answer.deeper))
    asked = {read.page_key(url): url for url in query.grades}
    return sorted(asked[page] for page in ranked if page in relevant - filling)
