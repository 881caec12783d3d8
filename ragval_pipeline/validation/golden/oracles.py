"""Expectations that nearly every chunk meets: ``query.weak_oracle``.

What lives here: base rates. What does not: conditions on scores, which have no base rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.golden.index_facts import Chunk, IndexFacts
from ragval_pipeline.validation.retrieval.texts import (
    ModuleMatch,
    chapter_matches,
    fold_text,
    holds_word,
    name_matches,
)

#: An expectation that more than this share of the chunks meets says nothing: chance meets it.
WEAK_FROM = 0.5
#: Below this many chunks, or with a single module or page, most of the index is no surprise.
FEWEST_CHUNKS = 10


def weak_oracles(
    queries: Sequence[TestQuery],
    facts: IndexFacts,
    page_key: Callable[[str], str],
    *,
    module_match: ModuleMatch,
    judge: Sequence[str] | None,
) -> list[Finding]:
    """Queries whose conditions, taken together, most chunks meet.

    Args:
        queries: The golden set.
        facts: The index.
        page_key: Canonical form of a URL.
        module_match: How modules are compared.
        judge: Conditions that decide, or null for all that a query states.
    """
    if len(facts.sample) < FEWEST_CHUNKS:
        return []
    subjects = []
    for query in queries:
        tests = {} if query.negative else _tests(query, page_key, module_match, judge)
        if not tests or ("url" in tests and _share_of_pages(query, facts, page_key) <= WEAK_FROM):
            continue
        rate = sum(all(test(chunk) for test in tests.values()) for chunk in facts.sample) / len(facts.sample)
        if rate > WEAK_FROM:
            details = {"base_rate": rate, "conditions": sorted(tests), "keywords": list(query.expected_keywords)}
            subjects.append(Subject(name=query.id, details=details))
    return [make_finding("query.weak_oracle", subjects)] if subjects else []


def _share_of_pages(query: TestQuery, facts: IndexFacts, page_key: Callable[[str], str]) -> float:
    """The share of all points that lie on the expected pages: no other condition makes it larger."""
    return sum(facts.pages[page] for page in _pages(query, page_key)) / facts.points


def _pages(query: TestQuery, page_key: Callable[[str], str]) -> set[str]:
    return {page_key(url) for url, grade in query.grades.items() if grade > 0}


def _tests(
    query: TestQuery,
    page_key: Callable[[str], str],
    module_match: ModuleMatch,
    judge: Sequence[str] | None,
) -> dict[str, Callable[[Chunk], bool]]:
    pages = _pages(query, page_key)
    keywords = [fold_text(keyword) for keyword in query.expected_keywords]
    module, chapter = query.expected_module, query.expected_chapter
    tests: dict[str, Callable[[Chunk], bool]] = {}
    if module is not None:
        tests["module"] = lambda chunk: (
            bool(chunk.module) and name_matches(module, chunk.module or "", mode=module_match)
        )
    if chapter is not None:
        tests["chapter"] = lambda chunk: bool(chunk.chapter) and chapter_matches(chapter, chunk.chapter or "")
    if pages:
        tests["url"] = lambda chunk: chunk.page in pages
    if keywords:
        tests["keywords"] = lambda chunk: any(holds_word(chunk.text, keyword) for keyword in keywords)
    return {name: test for name, test in tests.items() if judge is None or name in judge}
