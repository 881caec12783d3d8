"""The views over a run that was kept, from the files of its folder."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.datasets import columns_of, dataset_of
from ragval_pipeline.sources.history import EVIDENCE, FINDINGS, SNAPSHOT, HistoryNotReadError, KeptRun, reading_from
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.validation.chunks.compared import compare
from ragval_pipeline.validation.chunks.judged import Judged
from ragval_pipeline.validation.coverage.indexed import COLUMNS, collect_pages
from ragval_pipeline.validation.coverage.tables import addresses_table, run_table, with_moments
from ragval_pipeline.validation.facts.manifest import Table
from ragval_pipeline.validation.facts.store import FactRows
from ragval_pipeline.validation.payload.mapped import fields_table
from ragval_pipeline.validation.views.questions import question_tables
from ragval_pipeline.validation.views.session import Views, open_views
from ragval_pipeline.validation.views.tables import learnt_tables, raw_schemas

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.validation.report import ValidationReport

#: Files of a run by the table that they are.
_PARTS = {
    "_points": f"{EVIDENCE}/payload/*.parquet",
    "_chunks": f"{EVIDENCE}/facts/chunks-*.parquet",
    "_pages": f"{EVIDENCE}/facts/pages-*.parquet",
    "_findings": FINDINGS,
}
_SITE = f"{EVIDENCE}/sitemap_urls.csv"


@contextmanager
def views_of_run(run: KeptRun, asked: str = "") -> Iterator[Views]:
    """The views over the files of a run, for as long as the context is open.

    Args:
        run: The run.
        asked: The query, since what a view costs is done only for those who ask for it; empty: rows do not matter.

    Raises:
        HistoryNotReadError: A file cannot be read.
    """
    read, report = _snapshot(run), read_report(run)
    left_out = read.get("set_aside", ())
    tables = {
        name: _parquet(run.folder, pattern, left_out if name in {"_points", "_chunks"} else ())
        for name, pattern in _PARTS.items()
    }
    with reading_from(run.folder / _SITE):
        tables["_site"] = _site(run.folder / _SITE)
    if read:
        tables["_fields"] = fields_table(read["fields"], read["required"])
    now = datetime.fromisoformat(report.timestamp)
    profile = get_profile(report.profile)
    asked_for = _section(run, "self_retrieval") or {}
    tables["_run"] = run_table(
        now,
        id_rule=profile.id_rule if profile else None,
        collection_points=read.get("points"),
        distance=next((vector["distance"] for vector in read["facts"]["vectors"]), None) if read else None,
        pages_to_ask=asked_for.get("pages"),
        pages_asked=asked_for.get("pages_asked"),
    )
    if "addresses" in asked and tables["_points"] is not None and tables["_site"] is not None:
        with reading_from(run.folder):
            batches = columns_of(tables["_points"], COLUMNS)
            points = [row for batch in batches for row in batch.to_pylist()]
        indexed = collect_pages(points, now=now)
        keys = [row["page_key"] for row in tables["_site"].to_pylist() if row["in_scope"]]
        tables["_addresses"] = addresses_table(indexed, keys, len(points))
    if re.search("judged_(chunks|pages)", asked) and tables["_chunks"] is not None and tables["_pages"] is not None:
        with reading_from(run.folder):
            judged = Judged(compare(_KeptRows({"chunks": tables["_chunks"], "pages": tables["_pages"]})))
        tables |= {name: judged.table(name) for name in ("_judged_chunks", "_judged_pages")}
    tables |= learnt_tables(partial(_section, run))
    tables |= {**question_tables(report.query_results), "_criteria": _criteria(report)}
    with open_views({name: table for name, table in tables.items() if table is not None}) as views:
        yield views


class _KeptRows(FactRows):
    """The facts of a kept run."""

    def __init__(self, tables: Mapping[Table, Any]) -> None:
        self._tables = tables

    def batches(self, table: Table, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a table with some of its columns or all."""
        rows = self._tables[table]
        return columns_of(rows, rows.schema.names if columns is None else columns)


def _parquet(folder: UPath, pattern: str, left_out: Collection[str]) -> Any:
    """The Parquet files of a table; None without any."""
    with reading_from(folder):
        try:
            return dataset_of(sorted(folder.glob(pattern), key=str), left_out)
        except pa.ArrowInvalid as error:
            raise HistoryNotReadError(folder / pattern, str(error).splitlines()[0].rstrip(".")) from None


def _snapshot(run: KeptRun) -> dict[str, Any]:
    """The manifest of the snapshot that a run judged; empty without any."""
    file = run.folder / EVIDENCE / SNAPSHOT
    with reading_from(file):
        found: dict[str, Any] = json.loads(file.read_bytes()) if file.exists() else {}
    return found


def _section(run: KeptRun, name: str) -> Any:
    """A section of the measurements that is kept as evidence; None if there was nothing in it."""
    file = run.folder / EVIDENCE / f"{name}.json"
    with reading_from(file):
        return json.loads(file.read_bytes()) if file.exists() else None


def _site(file: UPath) -> pa.Table | None:
    from pyarrow import csv

    if not file.exists():
        return None
    schema = raw_schemas()["_site"]
    written = [name for name in schema.names if name not in {"nth", "modified", "is_document"}]
    options = csv.ConvertOptions(column_types=schema, strings_can_be_null=True, include_columns=written)
    return with_moments(csv.read_csv(io.BytesIO(file.read_bytes()), convert_options=options))


def _criteria(report: ValidationReport) -> pa.Table:
    schema = raw_schemas()["_criteria"]
    return pa.Table.from_pylist(
        [result.model_dump(include=set(schema.names)) for result in report.criteria], schema=schema
    )
