"""Test queries whose expectations the index cannot meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import read, written
from ragval_pipeline.rules.query.dead_target import RULE as DEAD_TARGET
from ragval_pipeline.rules.query.dead_target import Details
from ragval_pipeline.sources.site.inventory import modules_of
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.text.printing import nearest
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import IndexFacts, Reviewed
from ragval_pipeline.validation.retrieval.texts import (
    ModuleMatch,
    chapter_matches,
    name_matches,
    normalise_name,
)


@detector(DEAD_TARGET, needs=Reviewed)
def dead_targets(reviewed: Reviewed) -> list[Finding]:
    """Queries that name a missing page, module, chapter or point, or that can no longer pass.

    A page is dead if neither sitemap nor index has it. If all pages of a query are missing from the index, or an
    expected result is, the query cannot pass, and is reported too. Documents of qrels may be missing from the index as
    long as the query can pass; they are reported as ``query.unmatched_judgements``.
    """
    facts, inventory = reviewed.facts, reviewed.golden.inventory
    key = inventory.folder().key
    site = {page.key for page in inventory.pages}
    known = site.union(facts.pages)
    site_modules = {} if inventory.failure else Counter(modules_of(inventory.pages).values())
    known_urls = {page.key: page.url for page in inventory.pages}
    module_match = reviewed.golden.settings.rules.module_match
    subjects = []
    for query in reviewed.golden.queries:
        if query.negative:
            continue
        expected = {} if inventory.failure else query.grades  # a page that is not indexed may be on the site
        pages = {url: key(url) for url, grade in expected.items() if grade > 0}
        results = {} if inventory.failure else {url: key(url) for url in query.stated("source_url")}
        ids = [name for name in query.stated("id") if canonical_id(name) not in facts.ids]
        of_results = [url for url in results if results[url] not in facts.pages] + _dead_result_names(query, facts)
        chunks = {f"{url}, chunk {number}": (key(url), number) for url, number in query.stated_chunks}
        lost = [name for name, place in chunks.items() if place[0] in facts.pages and place not in facts.numbered]
        of_results += [*ids, *lost]
        targets = _dead_pages(pages, facts, site.union(map(key, query.judgements)))
        targets += _dead_names(query, facts, module_match)
        if targets or of_results:
            targets, pages = list(dict.fromkeys([*targets, *of_results])), {**pages, **results}
            borne = _any(site_modules, partial(_is_module, query, module_match))
            on_site = site | ({query.expected_module} if borne else set())
            bare = {url: key(url.partition("?")[0]) for url in pages if "?" in url}
            meant = {url: known_urls.get(page, page) for url, page in bare.items() if page in known}
            subject = _subject(
                query, targets, pages, list(known_urls.values()), facts, on_site, ids=[*ids, *lost], meant=meant
            )
            details = read(Details, subject.details)._replace(expected_results=of_results or None, chunks=lost or None)
            subjects.append(replace(subject, details=written(details)))
    return [_dead(subjects)] if subjects else []


def _dead(subjects: list[Subject]) -> Finding:
    """All dead targets, with their common cause, if any."""
    targets = [read(Details, subject.details) for subject in subjects]
    if all(target.on_site for target in targets):
        remedy = _NAME_MODULES if any(target.expected_module for target in targets) else _INGEST
        return make_finding(DEAD_TARGET.code, subjects, cause=_NOT_INDEXED, remedy=remedy)
    if all(target.query_strings for target in targets):
        return make_finding(DEAD_TARGET.code, subjects, cause=_OTHER_QUERY, remedy=_WITHOUT_QUERY)
    if all(target.targets == target.chunks for target in targets):
        return make_finding(DEAD_TARGET.code, subjects, cause=_OTHER_NUMBERS, remedy=_WITHOUT_NUMBERS)
    if all(target.targets == target.ids for target in targets):
        return make_finding(DEAD_TARGET.code, subjects, cause=_OTHER_IDS, remedy=_WITHOUT_IDS)
    return make_finding(DEAD_TARGET.code, subjects)


_NOT_INDEXED = "The expected pages are on the site, but no chunk in the index has them."
_INGEST = "Re-ingest the pages: the expectations are right."
_OTHER_QUERY = "The expected URLs differ from those of known pages only in the query string."
_OTHER_IDS = "No point has the expected ids: points got new ones when they were ingested again, or were deleted."
_WITHOUT_IDS = (
    "Correct the expected ids. If each ingestion gives new ones, derive ids from URL and index, or expect source_url, "
    "chunk_index or text instead."
)
_OTHER_NUMBERS = (
    "The expected pages are in the index, but have no chunk with the expected number: they were split in another way "
    "since, or these chunks were deleted."
)
_WITHOUT_NUMBERS = (
    "Correct the expected chunk_index, or expect a text of the chunk instead, which does not change with the splitter."
)
_WITHOUT_QUERY = "Remove the query string from the expected URLs."
_NAME_MODULES = "Re-ingest the pages with the module given by their URL: the expectations are right."


def _is_module(query: TestQuery, module_match: ModuleMatch, name: str) -> bool:
    return query.expected_module is not None and name_matches(query.expected_module, name, mode=module_match)


def _dead_pages(pages: Mapping[str, str], facts: IndexFacts, site: set[str]) -> list[str]:
    lost = [url for url, key in pages.items() if key not in facts.pages]
    if pages and len(lost) == len(pages):
        return lost
    return [url for url in lost if pages[url] not in site]


def _dead_names(query: TestQuery, facts: IndexFacts, module_match: ModuleMatch) -> list[str]:
    dead = []
    module, chapter = query.expected_module, query.expected_chapter
    if module is not None and not _any(facts.modules, partial(_is_module, query, module_match)):
        dead.append(module)
    if chapter is not None and not _any(facts.chapters, lambda name: chapter_matches(chapter, name)):
        dead.append(chapter)
    return dead


def _dead_result_names(query: TestQuery, facts: IndexFacts) -> list[str]:
    modules = [name for name in query.stated("module") if name not in facts.modules]
    return modules + [name for name in query.stated("chapter") if name not in facts.chapters]


def _any(names: Mapping[str, int], matches: Callable[[str], bool]) -> bool:
    return any(matches(name) for name in names)


def _subject(
    query: TestQuery,
    targets: list[str],
    pages: Mapping[str, str],
    known_urls: list[str],
    facts: IndexFacts,
    on_site: Collection[str | None],
    *,
    ids: list[str],
    meant: Mapping[str, str],
) -> Subject:
    # A name that no point has any more belonged to the points of the expected pages.
    dead_pages = [target for target in targets if target in pages]
    if dead_pages and all(pages[target] in on_site for target in dead_pages):
        on_site = {*on_site, *targets}
    near = {
        target: [meant[target]]
        if target in meant
        else nearest(target, known_urls if target in pages else [*facts.modules, *facts.chapters], count=1)
        for target in targets
        if pages.get(target, target) not in on_site and target not in ids
    }
    details = Details(
        targets=targets,
        near={target: names[0] for target, names in near.items() if names and names[0] != target},
        query_strings=meant.keys() >= set(targets),
        on_site=all(pages.get(target, target) in on_site for target in targets),
        expected_pages=sorted(pages[target] for target in dead_pages or pages),
        expected_module=query.expected_module if query.expected_module in targets else None,
        ids=ids or None,
    )
    names = {
        "module": {query.expected_module, *query.stated("module")},
        "chapter": {query.expected_chapter, *query.stated("chapter")},
    }
    # If the site is known and has none of the pages, nothing in the index explains that they are not there.
    unknown = bool(known_urls and dead_pages) and not any(pages[target] in on_site for target in dead_pages)
    return Subject(
        name=query.id,
        details=written(details),
        without=frozenset({Aspect.FIELD, Aspect.PRESENCE}) if unknown else frozenset(),
        pages=tuple(details.expected_pages),
        module=normalise_name(query.expected_module) if query.expected_module in targets and not pages else None,
        fields=(
            *(("source_url",) if dead_pages else ()),
            *(name for name, values in names.items() if values & set(targets)),
        ),
    )
