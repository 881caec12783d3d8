"""One page of the index under several spellings. What does not live here: folding (``sources.urls``)."""

from __future__ import annotations

from collections.abc import Mapping

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.coverage.indexed import IndexedPage


def spelling_findings(indexed: Mapping[str, IndexedPage]) -> list[Finding]:
    """``coverage.url_variant``: all stored spellings of pages that have more than one.

    Spellings that differ in the fragment only are one: a fragment names a place on the page, not another page.
    """
    subjects = []
    for key, page in indexed.items():
        distinct = {spelling.split("#", 1)[0] for spelling in page.spellings}
        if len(distinct) < 2:
            continue
        for spelling, points in page.spellings.items():
            others = sorted(distinct - {spelling.split("#", 1)[0]})
            subjects.append(Subject(name=spelling, page=key, details={"points": points, "others": others}))
    return [make_finding("coverage.url_variant", subjects)] if subjects else []
