"""The tables of a run: findings, queries with their hits, pages of the sitemap, and the TREC files."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.reporting.json_values import json_line
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.site.inventory import SiteInventory, SitePage
from ragval_pipeline.text.characters import ZERO_WIDTH, encodable
from ragval_pipeline.text.display import visible
from ragval_pipeline.text.trec_ids import encode_id
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.report import ValidationReport

COLUMNS = ("code", "severity", "scope", "subject_kind", "subject", "details")


def findings_parquet(findings: Sequence[Finding]) -> bytes:
    """Findings as Parquet, all columns text; a finding without subjects has one row with ``subject`` null.

    ``details`` is JSON: measurements of the subject, or without one of the finding.
    """
    columns: dict[str, list[str | None]] = {name: [] for name in COLUMNS}
    for row in _subject_rows(findings):
        for name, value in zip(COLUMNS, row, strict=True):
            columns[name].append(None if value is None else encodable(value))
    table = pa.table({name: array_of(values, pa.string()) for name, values in columns.items()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _subject_rows(findings: Sequence[Finding]) -> Iterator[tuple[str | None, ...]]:
    for finding in findings:
        own = (finding.code, finding.severity, finding.scope, finding.subject_kind)
        subjects: list[tuple[str | None, dict[str, Any]]] = [(entry.name, entry.details) for entry in finding.subjects]
        for name, details in subjects or [(None, finding.details)]:
            yield (*own, name, json_line(details))


QUERY_COLUMNS = (
    "query_id", "query_text", "status", "passed", "failed_conditions", "reason", "best_similarity", "module_match",
    "chapter_match", "returned_k", "embedding_ms", "search_time_ms",
)  # fmt: skip
HIT_COLUMNS = (
    "rank", "chunk_id", "similarity_score", "source_url", "title", "chapter_id", "module_name", "heading_hierarchy",
    "token_count", "chunk_index", "chunk_text",
)  # fmt: skip

#: First characters of spreadsheet formulas, including full-width forms.
_FORMULA_STARTS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def csv_pieces(report: ValidationReport) -> Iterator[bytes]:
    """The queries and their hits as CSV (RFC 4180, UTF-8), one piece per query.

    Text that begins like a formula gets a leading apostrophe. Numbers stay numbers, negative ones too. Lists are JSON,
    ``failed_conditions`` is joined with spaces.
    """
    yield _lines([(*QUERY_COLUMNS, *HIT_COLUMNS)])
    for query in report.query_results:
        yield _lines([cell(value) for value in row] for row in _hit_rows(query))


def _lines(rows: Iterable[Iterable[Any]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows(rows)
    return buffer.getvalue().encode()


def cell(value: Any) -> Any:
    """The value of one cell: numbers unchanged, None empty, booleans lower-case, text safe for spreadsheets."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = visible(str(value))
    return f"'{text}" if text.lstrip(ZERO_WIDTH)[:1] in _FORMULA_STARTS else text


def _hit_rows(query: QueryReport) -> Iterator[list[Any]]:
    composed = {
        "query_text": query.query.get("query_text"),
        "failed_conditions": " ".join(query.failed_conditions),
        "reason": query.fail_reason or query.pass_reason,
    }
    own = [composed[name] if name in composed else getattr(query, name) for name in QUERY_COLUMNS]
    if not query.top_results:
        yield [*own, *[None] * len(HIT_COLUMNS)]
    for hit in query.top_results:
        values = (getattr(hit, name) for name in HIT_COLUMNS)
        yield [*own, *(json_line(value) if isinstance(value, list) else value for value in values)]


SITEMAP_COLUMNS = ("url", "page_key", "lastmod", "in_scope", "out_of_scope", "sitemap", "indexed")


def sitemap_urls_csv(inventory: SiteInventory, indexed: Collection[str] | None) -> bytes:
    """Every page of the sitemap. ``indexed`` is yes or no, and empty for pages whose chunks were not counted."""
    held = None if indexed is None else frozenset(indexed)
    return _lines([SITEMAP_COLUMNS, *([cell(value) for value in _row(page, held)] for page in inventory.pages)])


def _row(page: SitePage, indexed: Collection[str] | None) -> list[str | bool | None]:
    known = None if indexed is None or not page.in_scope else ("yes" if page.url in indexed else "no")
    return [page.url, page.key, page.lastmod, page.in_scope, page.out_of_scope, page.sitemap, known]


TAG = "ragval"


def run_trec(rankings: Mapping[str, Sequence[str]]) -> bytes:
    """Rankings as TREC run: query, Q0, document, rank, score, tag.

    The score is the negative rank, so that no tool re-orders ties. A query without hits has no line; readers count it
    as missed. A duplicate document counts at its first rank.
    """
    lines = []
    for query, documents in rankings.items():
        for rank, document in enumerate(dict.fromkeys(documents), start=1):
            lines.append(f"{encode_id(query)} Q0 {encode_id(document)} {rank} {-rank} {TAG}\n")
    return "".join(lines).encode()


def qrels_trec(judgements: Mapping[str, Mapping[str, int]]) -> bytes | None:
    """Judgements as TREC qrels: query, 0, document, grade. None without ground truth."""
    lines = [
        f"{encode_id(query)} 0 {encode_id(document)} {grade}\n"
        for query, grades in judgements.items()
        for document, grade in grades.items()
    ]
    return "".join(lines).encode() if lines else None
