"""Modules of the site that no query asks about: ``query.no_coverage``."""

from __future__ import annotations

from collections.abc import Sequence

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.inventory import START, SiteInventory, modules_of
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import Reviewed
from ragval_pipeline.validation.retrieval.texts import normalise_name


@detector("query.no_coverage", needs=Reviewed)
def _unasked(reviewed: Reviewed) -> list[Finding]:
    return unasked_modules(reviewed.golden.queries, reviewed.golden.inventory)


def unasked_modules(queries: Sequence[TestQuery], inventory: SiteInventory) -> list[Finding]:
    """Modules that no positive query names or has a relevant page in; silent when no query names either."""
    modules = modules_of(inventory.pages)
    key = inventory.folder().key
    asked = set()
    for query in queries:
        if query.negative:
            continue
        if query.expected_module:
            asked.add(normalise_name(query.expected_module))
        pages = [key(url) for url, grade in query.grades.items() if grade > 0]
        asked.update(normalise_name(modules[page]) for page in pages if page in modules)
    unasked = sorted({name for name in modules.values() if name != START and normalise_name(name) not in asked})
    return [make_finding("query.no_coverage", unasked)] if asked and unasked else []
