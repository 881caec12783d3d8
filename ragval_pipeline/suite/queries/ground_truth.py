"""Ground truth in a file of its own: relevant pages, or any other expectation, by the text or id of a query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.printing import printable
from ragval_pipeline.suite.problems import suite_error
from ragval_pipeline.suite.queries.files import Entry, read_entries
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.queries.qrels import is_qrels, read_qrels, with_judgements

_KEYS = ("query", "query_text", "text", "id", "query_id")
_LISTS = ("relevant_urls", "acceptable_urls", "expected_keywords", "expected_topics", "expected_results")
_SINGLE = ("expected_module", "expected_chapter", "judgements")


def with_ground_truth(queries: Sequence[TestQuery], file: Path) -> list[TestQuery]:
    """The queries with what ``file`` expects of them, added to what they expect themselves.

    Args:
        queries: The queries.
        file: A qrels file, or a query file whose entries have ``query`` (the text or id of a query) and at least one
            of ``relevant_urls``, ``acceptable_urls``, ``expected_results`` and the like. Every query of that text
            gets it.

    Raises:
        SuiteError: The file is malformed, or an entry matches no query.
    """
    if is_qrels(file):
        return with_judgements(queries, read_qrels(file), file)
    joined = list(queries)
    positions = _positions(queries)
    for entry in read_entries(file, kind="ground truth file"):
        key, expected = _expectation(entry, file)
        if key not in positions:
            raise SuiteError(
                f"no test query is called {printable(key)!r}",
                file=file,
                key=entry.where,
                remedy="Match the query's text or id.",
            )
        for position in positions[key]:
            joined[position] = _joined(joined[position], expected, entry, file)
    return joined


def _positions(queries: Sequence[TestQuery]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for position, query in enumerate(queries):
        positions.setdefault(query.query_text.strip(), []).append(position)
    # An id names one query, also where it is the text of another.
    return {**positions, **{query.id: [position] for position, query in enumerate(queries)}}


def _expectation(entry: Entry, file: Path) -> tuple[str, dict[str, Any]]:
    named = next((name for name in _KEYS if entry.content.get(name) is not None), None)
    expected = {key: value for key, value in entry.content.items() if key not in _KEYS and value is not None}
    stated = [value for key, value in expected.items() if key in _LISTS or key in _SINGLE]
    if named is None or not stated or not all(stated):
        raise SuiteError(
            "needs query and relevant_urls that are not empty",
            file=file,
            key=entry.where,
            remedy="Instead of relevant_urls, expected_results and the like may stand.",
        )
    return str(entry.content[named]).strip(), expected


def _joined(query: TestQuery, expected: dict[str, Any], entry: Entry, file: Path) -> TestQuery:
    content = {**{name: getattr(query, name) for name in query.model_fields_set}, **expected}
    for name in _LISTS:
        if name in expected:
            added = expected[name] if isinstance(expected[name], list) else [expected[name]]
            content[name] = [*getattr(query, name), *(each for each in added if each not in getattr(query, name))]
    try:
        return TestQuery.model_validate(content).of_entry(query.written, query.id)
    except ValidationError as error:
        prefix = entry.key("")
        raise suite_error(error, model=TestQuery, file=file, given=content, prefix=prefix) from None
