"""The golden set as the tables under the views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.sources.site.inventory import START, SitePage
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.editions import kind_of, versions_of
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.retrieval.hits import expected_pages
from ragval_pipeline.validation.retrieval.texts import fold_text, normalise_name
from ragval_pipeline.validation.views.tables import raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa

PageKey = Callable[[str], str]


def test_queries(
    queries: Iterable[TestQuery], passed: Mapping[str, bool | None], modules: Mapping[str, str], page_key: PageKey
) -> pa.Table:
    """``_test_queries``.

    Args:
        queries: The test queries.
        passed: Whether each passed, by id.
        modules: The module of each page of the site, by page key.
        page_key: Canonical form of an address.
    """
    rows = [
        {
            "query_id": query.id,
            "question": _question(query),
            "expects": _expectation(query),
            "negative": query.negative,
            "passed": passed.get(query.id),
            "modules": sorted(_modules_of(query, modules, page_key)),
        }
        for query in queries
    ]
    return table_of(rows, raw_schemas()["_test_queries"])


def _question(query: TestQuery) -> str:
    """What is asked: of two tenants, the same words ask for two things."""
    asked = fold_text(query.query_text).rstrip("?!. ")
    return f"{asked} {sorted(query.filter.items())}" if query.filter else asked


def _modules_of(query: TestQuery, modules: Mapping[str, str], page_key: PageKey) -> set[str]:
    stated = [*query.stated("module"), *((query.expected_module,) if query.expected_module else ())]
    pages = [*expected_pages(query, page_key), *map(page_key, query.stated("source_url"))]
    return {normalise_name(name) for name in (*stated, *(modules[page] for page in pages if page in modules))}


def _expectation(query: TestQuery) -> str:
    return repr(
        (
            query.negative,
            query.expected_module,
            query.expected_chapter,
            sorted(query.grades.items()),
            sorted(query.expected_keywords),
            sorted(repr(sorted(entry.items())) for entry in query.expected_results),
        )
    )


def site_modules(pages: Iterable[SitePage], modules: Mapping[str, str]) -> pa.Table:
    """``_site_modules``; ``modules`` as for ``test_queries``."""
    names = sorted(set(modules.values()) - {START})
    folders = _folders_of_versions(pages, modules) if any(kind_of(name) == "version" for name in names) else ()
    rows = [{"name": name, "module": normalise_name(name), "is_version": name in folders} for name in names]
    return table_of(rows, raw_schemas()["_site_modules"])


def _folders_of_versions(pages: Iterable[SitePage], modules: Mapping[str, str]) -> set[str]:
    """What stands for the module of some pages and is the folder of a version."""
    listed = [page for page in pages if page.in_scope]
    versions = versions_of(page.url for page in listed)
    return {
        name
        for page in listed
        if (name := modules.get(page.key)) is not None
        and page.url in versions
        and name not in versions[page.url]
        and kind_of(name) == "version"
    }


def ranking_gates(metrics: Mapping[str, MetricValue], gates: Mapping[str, Gate]) -> pa.Table:
    """``_ranking_gates``: the metrics that have a gate and a ceiling."""
    rows = [
        {"name": name, "ceiling": metric.ceiling, "gate": gates[name].threshold, "n": metric.n, "place": place}
        for place, (name, metric) in enumerate(metrics.items())
        if metric.ceiling is not None and name in gates and gates[name].threshold is not None
    ]
    return table_of(rows, raw_schemas()["_ranking_gates"])


def judged(
    queries: Iterable[TestQuery], unmatched: Mapping[str, int], indexed: Mapping[str, int], page_key: PageKey
) -> pa.Table:
    """``_judged``.

    Args:
        queries: The test queries with their judgements.
        unmatched: Number of judgements of the topics without a query.
        indexed: Pages of the index by canonical form.
        page_key: Canonical form of an address.
    """
    judged = [query for query in queries if query.judgements]
    documents = Counter(document for query in judged for document in query.judgements)
    rows = [
        *({"kind": "topic", "name": name, "judgements": count, "known": False} for name, count in unmatched.items()),
        *({"kind": "topic", "name": each.id, "judgements": len(each.judgements), "known": True} for each in judged),
        *(
            {"kind": "document", "name": name, "page_key": key, "judgements": count, "known": key in indexed}
            for name, count in documents.items()
            for key in (page_key(name),)
        ),
    ]
    return table_of(rows, raw_schemas()["_judged"])
