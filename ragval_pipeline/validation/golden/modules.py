"""Modules of the site that no query asks about: ``query.no_coverage``."""

from __future__ import annotations

from collections.abc import Iterator

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.sources.inventory import START, modules_of
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import Reviewed
from ragval_pipeline.validation.retrieval.texts import normalise_name


@detector("query.no_coverage", needs=Reviewed)
def unasked_modules(reviewed: Reviewed) -> Iterator[Subject]:
    """Modules that no positive query names or has a relevant page in; silent when no query names either."""
    inventory = reviewed.golden.inventory
    modules = modules_of(inventory.pages)
    key = inventory.folder().key
    asked = set()
    for query in reviewed.golden.queries:
        if query.negative:
            continue
        if query.expected_module:
            asked.add(normalise_name(query.expected_module))
        pages = [key(url) for url, grade in query.grades.items() if grade > 0]
        asked.update(normalise_name(modules[page]) for page in pages if page in modules)
    for name in set(modules.values()) - {START} if asked else ():
        if normalise_name(name) not in asked:
            yield Subject(name=name)
