"""The same question twice: ``query.duplicate``. What does not live here: ids, which must differ to be loaded at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import Reviewed
from ragval_pipeline.validation.retrieval.texts import fold_text


@detector("query.duplicate", needs=Reviewed)
def duplicate_queries(reviewed: Reviewed) -> Iterator[Subject]:
    """All queries whose text, case and accents folded, another query has too; details say whether they agree."""
    groups: dict[str, list[TestQuery]] = {}
    for query in reviewed.golden.queries:
        groups.setdefault(fold_text(query.query_text).rstrip("?!. "), []).append(query)
    for group in groups.values():
        if len(group) < 2:
            continue
        contradicting = len({_expectation(query) for query in group}) > 1
        for query in group:
            others = sorted(other.id for other in group if other.id != query.id)
            yield Subject(name=query.id, details={"others": others, "contradicting": contradicting})


def _expectation(query: TestQuery) -> tuple[Any, ...]:
    return (
        query.negative,
        query.expected_module,
        query.expected_chapter,
        tuple(sorted(query.grades.items())),
        tuple(sorted(query.expected_keywords)),
        tuple(sorted(repr(sorted(entry.items())) for entry in query.expected_results)),
    )
