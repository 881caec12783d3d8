"""The views over a run that was kept, from the files of its folder."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.datasets import dataset_of
from ragval_pipeline.sources.history import EVIDENCE, FINDINGS, SNAPSHOT, HistoryNotReadError, KeptRun, reading_from
from ragval_pipeline.validation.payload.mapped import fields_table
from ragval_pipeline.validation.views.questions import question_tables
from ragval_pipeline.validation.views.session import Views, open_views
from ragval_pipeline.validation.views.tables import raw_schemas

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
def views_of_run(run: KeptRun) -> Iterator[Views]:
    """The views over the files of a run, for as long as the context is open.

    Raises:
        HistoryNotReadError: A file cannot be read.
    """
    with reading_from(run.folder):
        tables = {
            name: found for name, pattern in _PARTS.items() if (found := _parquet(run.folder, pattern)) is not None
        }
    with reading_from(run.folder / _SITE):
        if (site := _site(run.folder / _SITE)) is not None:
            tables["_site"] = site
    read = _snapshot(run)
    if read:
        tables["_fields"] = fields_table(read["fields"], read["required"])
        left_out = list(read.get("set_aside", ()))
        for name in {"_points", "_chunks"} & tables.keys() if left_out else ():
            tables[name] = tables[name].filter(~pc.field("point_id").isin(left_out))
    report = read_report(run)
    with open_views({**tables, **question_tables(report.query_results), "_criteria": _criteria(report)}) as views:
        yield views


def _parquet(folder: UPath, pattern: str) -> Any:
    """The Parquet files of a table; None without any."""
    try:
        return dataset_of(sorted(folder.glob(pattern), key=str))
    except pa.ArrowInvalid as error:
        raise HistoryNotReadError(folder / pattern, str(error).splitlines()[0].rstrip(".")) from None


def _snapshot(run: KeptRun) -> dict[str, Any]:
    """The manifest of the snapshot that a run judged; empty without any."""
    file = run.folder / EVIDENCE / SNAPSHOT
    with reading_from(file):
        found: dict[str, Any] = json.loads(file.read_bytes()) if file.exists() else {}
    return found


def _site(file: UPath) -> pa.Table | None:
    from pyarrow import csv

    if not file.exists():
        return None
    schema = raw_schemas()["_site"]
    options = csv.ConvertOptions(column_types=schema, strings_can_be_null=True, include_columns=schema.names)
    return csv.read_csv(io.BytesIO(file.read_bytes()), convert_options=options)


def _criteria(report: ValidationReport) -> pa.Table:
    schema = raw_schemas()["_criteria"]
    return pa.Table.from_pylist(
        [result.model_dump(include=set(schema.names)) for result in report.criteria], schema=schema
    )
