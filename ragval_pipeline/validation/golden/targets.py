"""Targets that do not exist: ``query.dead_target``. What does not live here: targets that exist and are not found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.suite.nearest import nearest
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import Reviewed
from ragval_pipeline.validation.golden.index_facts import IndexFacts
from ragval_pipeline.validation.retrieval.texts import ModuleMatch, chapter_matches, name_matches, normalise_name


@detector("query.dead_target", needs=Reviewed)
def dead_targets(reviewed: Reviewed) -> list[Finding]:
    """Queries that name a page, module or chapter that is not there, or that no longer can be found at all.

    A page is dead when neither sitemap nor index has it. When all pages that a query names are missing from the index,
    the query cannot pass either, and is named too. Qrels may judge documents that are not in the index, and say so in
    ``query.unmatched_judgements``, as long as the query can pass.
    """
    facts, inventory = reviewed.facts, reviewed.golden.inventory
    key = inventory.folder().key
    site = {page.key for page in inventory.pages}
    known_urls = [page.url for page in inventory.pages]
    subjects = []
    for query in reviewed.golden.queries:
        if query.negative:
            continue
        expected = {} if inventory.failure else query.grades  # a page that is not indexed may be on the site
        pages = {url: key(url) for url, grade in expected.items() if grade > 0}
        targets = _dead_pages(pages, facts, site.union(map(key, query.judgements)))
        targets += _dead_names(query, facts, reviewed.golden.module_match)
        if targets:
            subjects.append(_subject(query, targets, pages, known_urls, facts, site))
    if subjects and all(subject.details["on_site"] for subject in subjects):
        return [make_finding("query.dead_target", subjects, cause=_NOT_INDEXED, remedy=_INGEST)]
    return [make_finding("query.dead_target", subjects)] if subjects else []


_NOT_INDEXED = "The expected pages are on the site and have no chunk in the index."
_INGEST = "Re-ingest the pages: the expectations are right."


def _dead_pages(pages: Mapping[str, str], facts: IndexFacts, site: set[str]) -> list[str]:
    lost = [url for url, key in pages.items() if key not in facts.pages]
    if pages and len(lost) == len(pages):
        return lost
    return [url for url in lost if pages[url] not in site]


def _dead_names(query: TestQuery, facts: IndexFacts, module_match: ModuleMatch) -> list[str]:
    dead = []
    module, chapter = query.expected_module, query.expected_chapter
    if module is not None and not _any(facts.modules, lambda name: name_matches(module, name, mode=module_match)):
        dead.append(module)
    if chapter is not None and not _any(facts.chapters, lambda name: chapter_matches(chapter, name)):
        dead.append(chapter)
    return dead


def _any(names: Mapping[str, int], matches: Callable[[str], bool]) -> bool:
    return any(matches(name) for name in names)


def _subject(
    query: TestQuery,
    targets: list[str],
    pages: Mapping[str, str],
    known_urls: list[str],
    facts: IndexFacts,
    site: set[str],
) -> Subject:
    near = {
        target: nearest(target, known_urls if target in pages else [*facts.modules, *facts.chapters], count=1)
        for target in targets
    }
    # A name that no point bears any more was borne by the points of the pages that the query expects.
    dead_pages = [target for target in targets if target in pages]
    details: dict[str, Any] = {
        "targets": targets,
        "near": {target: names[0] for target, names in near.items() if names and names[0] != target},
        "on_site": all(pages.get(target) in site for target in targets),
        "expected_pages": sorted(pages[target] for target in dead_pages or pages),
        "expected_module": query.expected_module if query.expected_module in targets else None,
    }
    names = {"module": query.expected_module, "chapter": query.expected_chapter}
    return Subject(
        name=query.id,
        details=details,
        pages=tuple(details["expected_pages"]),
        module=normalise_name(query.expected_module) if query.expected_module in targets and not pages else None,
        fields=(*(("source_url",) if dead_pages else ()), *(name for name, value in names.items() if value in targets)),
    )
