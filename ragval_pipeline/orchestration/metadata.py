"""The one place that turns what was measured into Dagster metadata.

What lives here: numbers to plot, tables of offenders, column schemas. What does not: deciding anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import quote

import dagster as dg

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.orchestration.offenders import AnyFinding
from ragval_pipeline.sources.snapshot.schema import COLUMNS, INTEGER_FIELDS, LIST_FIELDS
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.verdict import CriterionResult

#: Rows of a table of offenders; the count of all stands beside it.
TABLE_ROWS = 50
#: Sections that hold a number a query or a page.
_NOT_PLOTTED = frozenset({"run", "qrels"})
OFFENDER_COLUMNS = ("subject", "code", "severity", "remedy", "because", "scope")


def number(value: Any) -> float | int | None:
    """A plain Python number that Dagster can plot, floats with six significant digits; None for what is no number.

    Takes numpy scalars too.
    """
    plain = value.item() if hasattr(value, "item") else value
    if plain is None or isinstance(plain, bool):
        return None
    if isinstance(plain, int):
        return plain
    return float(f"{plain:.6g}") if math.isfinite(plain) else None


def numbers(values: Mapping[str, Any]) -> dict[str, dg.MetadataValue]:
    """Metadata of the numbers that there are."""
    found = {name: number(value) for name, value in values.items()}
    return {
        name: dg.MetadataValue.int(value) if isinstance(value, int) else dg.MetadataValue.float(value)
        for name, value in found.items()
        if value is not None
    }


def measured_metadata(parts: Sequence[Measurement]) -> dict[str, Any]:
    """What the page of a measuring asset shows: each value, counts of findings, the offenders, the failures."""
    findings = [finding for part in parts for finding in part.findings]
    severities = [finding.severity for finding in findings]
    sections = {name: section for part in parts for name, section in part.sections.items()}
    values = numbers({value.name: value.value for part in parts for value in part.values})
    return {
        **values,
        **offenders_metadata(findings),
        **numbers(
            {
                "error_findings": severities.count("error"),
                "warning_findings": severities.count("warning"),
                "seconds": round(sum(part.seconds for part in parts), 3),
            }
        ),
        **{name: value for name, value in section_numbers(sections).items() if name not in values},
        **_not_measured(parts),
    }


def _not_measured(parts: Sequence[Measurement]) -> dict[str, dg.MetadataValue]:
    told = {
        part.asset: part.failure.message if part.failure else "its group was not selected for this run"
        for part in parts
        if part.failure or not part.selected
    }
    if not told:
        return {}
    text = next(iter(told.values())) if len(parts) == 1 else "; ".join(f"{name}: {why}" for name, why in told.items())
    return {"not_measured": dg.MetadataValue.text(text)}


def section_numbers(sections: Mapping[str, Any]) -> dict[str, dg.MetadataValue]:
    """The plain numbers of the report's sections, ``outer.inner`` where they are nested once, and how long lists are.

    Deeper ones are per query or per page: tables, not plots.
    """
    found: dict[str, Any] = {}
    for name, section in sections.items():
        if name in _NOT_PLOTTED or not isinstance(section, Mapping):
            continue
        for key, value in section.items():
            inner = {f"{key}.{part}": entry for part, entry in value.items()} if isinstance(value, Mapping) else {}
            found |= {name: entry for name, entry in {key: _countable(value), **inner}.items() if _is_number(entry)}
    return numbers(found)


def _countable(value: Any) -> Any:
    names_things = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    return len(value) if names_things else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def criterion_metadata(result: CriterionResult) -> dict[str, Any]:
    """The numbers of one criterion, to plot over runs, and the reason of its verdict.

    The UI plots by name, so the names of all other numbers come after ``value``. The gate is a text: plotted it would
    be a flat line.
    """
    return {
        **numbers({"value": result.value}),
        "gate": dg.MetadataValue.text(gate_text(result)),
        "verdict": dg.MetadataValue.text(result.verdict),
        "reason": dg.MetadataValue.text(result.reason),
        "required": dg.MetadataValue.bool(result.required),
        **numbers({"value_numerator": result.numerator, "value_denominator": result.denominator}),
    }


def gate_text(result: CriterionResult) -> str:
    """What is asked of a criterion: ``>= 0.9``."""
    return "none" if result.threshold is None else f"{result.operator} {result.threshold:g}"


def offenders_metadata(findings: Sequence[AnyFinding], *, count: str = "offenders_count") -> dict[str, Any]:
    """How many offenders there are, to plot under the name ``count``, and the first of them as a table."""
    all_ = dg.MetadataValue.int(sum(finding.count for finding in findings))
    return {count: all_, **({"offenders": offenders_table(findings)} if findings else {})}


def offenders_table(findings: Iterable[AnyFinding]) -> dg.TableMetadataValue:
    """The first offenders as a table: a row a subject, without the columns that hold nothing."""
    rows = list(islice((row for finding in findings for row in _rows(finding)), TABLE_ROWS))
    return table(rows, [name for name in OFFENDER_COLUMNS if any(row[name] for row in rows) or name == "subject"])


def _rows(finding: AnyFinding) -> Iterator[dict[str, Any]]:
    for subject in finding.subjects or ("",):
        yield {
            "subject": subject.name if isinstance(subject, Subject) else subject,
            "code": finding.code,
            "severity": finding.severity,
            "remedy": finding.remedy,
            "because": finding.because or "",
            "scope": finding.scope or "",
        }


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> dg.TableMetadataValue:
    """A table of the first ``TABLE_ROWS`` rows; cells that Dagster cannot show become text."""
    records = [dg.TableRecord({name: _cell(row.get(name)) for name in columns}) for row in islice(rows, TABLE_ROWS)]
    schema = dg.TableSchema(columns=[dg.TableColumn(name) for name in columns])
    return dg.MetadataValue.table(records=records, schema=schema)


def short(value: float | None) -> str:
    """A value as a person reads it in a table: four significant digits, whole thousands in full; empty for none."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def console_link(uri: str) -> dict[str, dg.MetadataValue]:
    """Where a browser opens a file that lies in an object store; empty for a file that it cannot reach."""
    scheme, _, rest = uri.partition("://")
    bucket, _, name = rest.partition("/")
    links = {
        "gs": f"https://storage.cloud.google.com/{quote(rest)}",
        "s3": f"https://console.aws.amazon.com/s3/object/{quote(bucket)}?prefix={quote(name)}",
        "http": uri,
        "https": uri,
    }
    return {"open_report": dg.MetadataValue.url(links[scheme])} if scheme in links else {}


def snapshot_schema() -> dg.TableSchema:
    """Column schema of the payload snapshot."""
    types = {
        **dict.fromkeys((*INTEGER_FIELDS, "text_chars"), "int"),
        **dict.fromkeys(LIST_FIELDS, "list<string>"),
    }
    columns = [dg.TableColumn(name, types.get(name, "string"), description=text) for name, text in COLUMNS.items()]
    return dg.TableSchema(columns=columns)


def _cell(value: Any) -> str | int | float | bool | None:
    plain = value.item() if hasattr(value, "item") else value
    return plain if plain is None or isinstance(plain, str | int | float | bool) else str(plain)
