"""``query_results.csv``: one row for each hit of each query, one for a query without hits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from ragval_pipeline.reporting.files.json_values import json_line
from ragval_pipeline.reporting.text import visible
from ragval_pipeline.validation.report import QueryReport, TopResult, ValidationReport

QUERY_COLUMNS = (
    "query_id", "query_text", "status", "passed", "failed_conditions", "reason", "best_similarity", "module_match",
    "chapter_match", "returned_k", "embedding_ms", "search_time_ms",
)  # fmt: skip
HIT_COLUMNS = (
    "rank", "chunk_id", "similarity_score", "source_url", "title", "chapter_id", "module_name", "heading_hierarchy",
    "token_count", "chunk_index", "chunk_text",
)  # fmt: skip

#: First characters that make a spreadsheet take a cell for a formula, the full-width forms of them included.
_FORMULA_STARTS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_INVISIBLE = "\u200b\u2060\ufeff"


def query_results_csv(report: ValidationReport) -> bytes:
    """The queries and their hits as CSV (RFC 4180, UTF-8).

    Text that begins like a formula gets a leading apostrophe. Numbers stay numbers, negative ones too. Lists are JSON,
    ``failed_conditions`` is joined with blanks.
    """
    return b"".join(csv_pieces(report))


def csv_pieces(report: ValidationReport) -> Iterator[bytes]:
    """``query_results_csv`` in pieces, a query each."""
    yield _lines([(*QUERY_COLUMNS, *HIT_COLUMNS)])
    for query in report.query_results:
        yield _lines([cell(value) for value in row] for row in _rows(query))


def _lines(rows: Iterable[Iterable[Any]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows(rows)
    return buffer.getvalue().encode()


def cell(value: Any) -> Any:
    """The value of one cell: numbers as they are, null empty, booleans lower-case, text that no program runs."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = visible(str(value))
    return f"'{text}" if text.lstrip(_INVISIBLE)[:1] in _FORMULA_STARTS else text


def _rows(query: QueryReport) -> Iterator[list[Any]]:
    own = [
        query.query_id,
        query.query.get("query_text"),
        query.status,
        query.passed,
        " ".join(query.failed_conditions),
        query.fail_reason or query.pass_reason,
        query.best_similarity,
        query.module_match,
        query.chapter_match,
        query.returned_k,
        query.embedding_ms,
        query.search_time_ms,
    ]
    if not query.top_results:
        yield [*own, *[None] * len(HIT_COLUMNS)]
    for hit in query.top_results:
        yield [*own, *(_hit_value(hit, column) for column in HIT_COLUMNS)]


def _hit_value(hit: TopResult, column: str) -> Any:
    value = getattr(hit, column)
    return json_line(value) if isinstance(value, list) else value
