"""Expectations that are met by chance: ``query.weak_oracle``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from statistics import median
from typing import Any, TypeAlias

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.query.weak_oracle import RULE as WEAK_ORACLE
from ragval_pipeline.rules.query.weak_oracle import Details
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import SAMPLED_CHUNKS, Chunk, GoldenSet, IndexFacts, Reviewed
from ragval_pipeline.validation.query_report import query_results_of
from ragval_pipeline.validation.retrieval.hits import expected_pages
from ragval_pipeline.validation.retrieval.judge import deciding_conditions
from ragval_pipeline.validation.retrieval.texts import (
    ModuleMatch,
    chapter_matches,
    fold_text,
    holds_word,
    name_matches,
    normalise_name,
)
from ragval_pipeline.validation.thresholds import MOST

#: Maximum requirements considered, the least likely first: whatever meets all meets these.
_MOST_REQUIREMENTS = 8  # work

#: A predicate that some chunk of the top_k must satisfy.
_Requirement: TypeAlias = Callable[[Chunk], bool]


@detector(WEAK_ORACLE, needs=Reviewed)
def weak_oracles(reviewed: Reviewed) -> Iterator[Subject]:
    """Queries that pass with random chunks of this index, drawn without replacement, at least every other time.

    If a score is judged, only the hits are known to reach it; of most chunks nobody knows whether they do.
    """
    rules = reviewed.golden.settings.rules
    thresholds = {query.id: rules.threshold(query) for query in reviewed.golden.queries}
    reaching = {
        report.query_id: frozenset(
            hit.chunk_id
            for hit in report.top_results
            if hit.similarity_score is not None and rules.reaches(hit.similarity_score, thresholds[report.query_id])
        )
        for report in query_results_of(reviewed.results)
        if report.query_id in thresholds
    }
    return met_by_chance(reviewed.golden, reviewed.facts, reaching)


def met_by_chance(
    golden: GoldenSet, facts: IndexFacts, reaching: Mapping[str, Collection[str]] | None = None
) -> Iterator[Subject]:
    """The same for an index that may differ from the stored one.

    ``reaching`` are the points that are known to reach the threshold of each query; None: scores are not considered.
    """
    settings, page_key = golden.settings, golden.inventory.folder().key
    for query in golden.queries:
        draws = query.top_k or settings.top_k
        pointless = query.negative or not facts.sample or _draws_any_page(facts, draws)
        required = {} if pointless else _required(query, page_key, settings.rules.module_match, settings.judge)
        if required and reaching is not None and "score" in deciding_conditions(query, settings.judge):
            required["score", 0] = _one_of(reaching.get(query.id, ()))
        met, chance = _chance(list(required.values()), facts, draws) if required else (0.0, 0.0)
        if chance >= MOST:
            conditions = sorted({name for name, _ in required})
            details = written(Details(chance, met, draws, conditions, list(query.expected_keywords)))
            pages = expected_pages(query, page_key)
            module = None if pages else normalise_name(query.expected_module or "") or None
            yield Subject(name=query.id, details=details, pages=tuple(sorted(pages)), module=module)


def _draws_any_page(facts: IndexFacts, draws: int) -> bool:
    """Whether random chunks have one of the median page more often than not.

    Then the index is too small for ``draws``: a question that names its page, as exactly as questions do, is met by
    chance as well.
    """
    chunks = Counter(chunk.page for chunk in facts.sample if chunk.page is not None).values()
    of_page = round(median(chunks) * facts.points / len(facts.sample)) if chunks else 1
    return draws > facts.points or none_drawn(facts.points, max(1, of_page), draws) < 1 - MOST


def _one_of(points: Collection[str]) -> _Requirement:
    return lambda chunk: chunk.point_id in points


def facts_after(
    facts: IndexFacts, *, removed: Collection[str] = (), changed: Mapping[str, Chunk], added: Sequence[Chunk] = ()
) -> IndexFacts:
    """The facts after points are removed, changed or added; new ones are sampled like the stored ones."""
    step = max(1, facts.points // SAMPLED_CHUNKS)
    stay = [changed.get(chunk.point_id, chunk) for chunk in facts.sample if chunk.point_id not in removed]
    return replace(facts, points=facts.points - len(removed) + len(added), sample=[*stay, *added[::step]])


def _chance(required: Sequence[_Requirement], facts: IndexFacts, draws: int) -> tuple[float, float]:
    """The share of chunks that meet all requirements at once, and the probability that ``draws`` chunks meet each.

    Different chunks may meet different requirements, as in a search. The probability is computed by inclusion-exclusion
    over unmet requirements, which are hypergeometric; it is 0 as soon as one requirement alone is too unlikely.
    """
    alone: list[tuple[float, _Requirement]] = []
    for requirement in required:
        share = sum(map(requirement, facts.sample)) / len(facts.sample)
        likely = 1 - none_drawn(facts.points, round(share * facts.points), draws)
        if likely < MOST:
            return 0.0, 0.0
        alone.append((likely, requirement))
    rarest = [requirement for _, requirement in sorted(alone, key=lambda entry: entry[0])[:_MOST_REQUIREMENTS]]
    met = Counter(tuple(requirement(chunk) for requirement in rarest) for chunk in facts.sample)
    scale = facts.points / len(facts.sample)
    places = range(len(rarest))
    chance = 0.0
    for size in range(len(rarest) + 1):
        for chosen in combinations(places, size):
            meeting = sum(count for pattern, count in met.items() if any(pattern[at] for at in chosen))
            chance += (-1) ** size * none_drawn(facts.points, round(scale * meeting), draws)
    return met[(True,) * len(rarest)] / len(facts.sample), chance


def none_drawn(points: int, meeting: int, draws: int) -> float:
    """The probability that none of ``draws`` points is one of ``meeting`` among ``points``."""
    return comb(points - meeting, draws) / comb(points, draws)


def _required(
    query: TestQuery, page_key: Callable[[str], str], module_match: ModuleMatch, judge: Sequence[str] | None
) -> dict[tuple[str, int], _Requirement]:
    """The requirements of the judged conditions except the score, by condition and number."""
    pages = expected_pages(query, page_key)
    keywords = [fold_text(keyword) for keyword in query.expected_keywords]
    module, chapter = query.expected_module or "", query.expected_chapter or ""
    requirements: dict[str, list[_Requirement]] = {
        "module": [lambda chunk: bool(chunk.module) and name_matches(module, chunk.module or "", mode=module_match)],
        "chapter": [lambda chunk: bool(chunk.chapter) and chapter_matches(chapter, chunk.chapter or "")],
        "url": [lambda chunk: chunk.page in pages],
        "keywords": [lambda chunk: any(holds_word(chunk.text, keyword) for keyword in keywords)],
        "results": [_result(entry, page_key) for entry in query.expected_results],
    }
    return {
        (name, number): requirement
        for name in deciding_conditions(query, judge)
        for number, requirement in enumerate(requirements.get(name, ()))
    }


def _result(expected: Mapping[str, Any], page_key: Callable[[str], str]) -> _Requirement:
    """The requirement that a chunk matches an expected result in all its keys."""
    spelling = {"id": canonical_id, "source_url": page_key}
    wanted = {key: spelling.get(key, str)(str(value)) for key, value in expected.items()}
    text = fold_text(wanted.pop("text", ""))

    def is_it(chunk: Chunk) -> bool:
        stated = {
            "id": chunk.point_id,
            "source_url": chunk.page,
            "module": chunk.module,
            "chapter": chunk.chapter,
            "chunk_index": str(chunk.chunk_index),
        }
        return text in chunk.text and all(stated[key] == value for key, value in wanted.items())

    return is_it
