"""Dagster metadata of measurements: numbers, tables, and the findings behind a failed check."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

import dagster as dg

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, ReportedFinding
from ragval_pipeline.rules.rule import SEVERITIES
from ragval_pipeline.sources.snapshot.manifest import COLUMNS, INTEGER_FIELDS, LIST_FIELDS
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    from ragval_pipeline.reporting.document import RunDocument
    from ragval_pipeline.reporting.subjects import Subjects
    from ragval_pipeline.validation.query_report import QueryReport

#: Rows of a table; the total is shown next to it. Dagster's event log keeps what is shown here for ever.
TABLE_ROWS = 10
#: Sections with a number per query or page.
_NOT_TOLD = frozenset({"run", "qrels", "readers"})
#: Readable columns first, then those for programs.
OFFENDER_COLUMNS = ("what", "problem", "severity", "because", "scope", "subject", "code")
_ALWAYS = frozenset({"what", "subject"})
#: Findings whose sentences begin an asset's page.
_NAMED = 3


def number(value: Any) -> float | int | None:
    """A plain Python number that Dagster can plot, floats with six significant digits; None for other values.

    Accepts numpy scalars too.
    """
    plain = value.item() if hasattr(value, "item") else value
    if plain is None or isinstance(plain, bool):
        return None
    if isinstance(plain, int):
        return plain
    return float(f"{plain:.6g}") if math.isfinite(plain) else None


def numbers(values: Mapping[str, Any]) -> dict[str, dg.MetadataValue]:
    """Metadata of all available numbers."""
    found = {name: number(value) for name, value in values.items()}
    return {
        name: dg.MetadataValue.int(value) if isinstance(value, int) else dg.MetadataValue.float(value)
        for name, value in found.items()
        if value is not None
    }


def described(values: Mapping[str, Any]) -> dict[str, dg.MetadataValue]:
    """Metadata of what an asset that reads tells of itself: its numbers, and its texts."""
    texts = {name: dg.MetadataValue.text(value) for name, value in values.items() if isinstance(value, str)}
    return {**numbers({name: value for name, value in values.items() if name not in texts}), **texts}


def asset_metadata(parts: Sequence[Measurement]) -> dict[str, Any]:
    """Metadata of a measuring asset: what was found, its criteria, counts, failures, and what is wrong as a table.

    Dagster stores an asset's metadata twice a run, for ever, so that only criteria and counts are numbers to plot.
    """
    findings = [finding for part in parts for finding in part.findings]
    sections = {name: section for part in parts for name, section in part.sections.items()}
    return {
        **_result(parts, findings),
        **numbers({value.name: value.value for part in parts for value in part.values}),
        **numbers(
            {
                "offenders_count": sum(finding.count for finding in findings),
                "seconds": round(sum(part.seconds for part in parts), 3),
            }
        ),
        **_not_measured(parts),
        **({"details": dg.MetadataValue.text(told)} if (told := details_of(sections)) else {}),
        **section_tables(sections),
    }


def _result(parts: Sequence[Measurement], findings: Sequence[Finding]) -> dict[str, dg.MetadataValue]:
    """What was found, in sentences; empty if nothing was measured."""
    if all(part.failure or not part.selected for part in parts):
        return {}
    loud = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    told = " ".join(finding.message for finding in loud[:_NAMED]) or "No problems found."
    more = f" And {plural(len(loud) - _NAMED, 'more finding')}." if len(loud) > _NAMED else ""
    return {"result": dg.MetadataValue.text(f"{told}{more}")}


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


def details_of(sections: Mapping[str, Any]) -> str:
    """The numbers of the report's sections in words, a nested group in brackets, and the lengths of lists.

    Deeper ones are per query or page.
    """
    parts = []
    for name, section in sections.items():
        if name in _NOT_TOLD or not isinstance(section, Mapping):
            continue
        for key, value in section.items():
            if isinstance(value, Mapping):
                inner = [f"{part} {shown}" for part, entry in value.items() if (shown := _shown(entry))]
                parts += [f"{key} ({', '.join(inner)})"] if inner else []
            elif shown := _shown(value):
                parts.append(f"{key} {shown}")
    return ", ".join(dict.fromkeys(parts)).replace("_", " ")


def _shown(value: Any) -> str:
    names_things = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    plain = number(len(value) if names_things else value) if names_things or isinstance(value, int | float) else None
    return "" if plain is None else f"{plain:,}" if isinstance(plain, int) else short(plain)


def criterion_metadata(result: CriterionResult) -> dict[str, Any]:
    """The numbers of one criterion, to plot over runs; the check's description says why it has its verdict.

    The UI plots by name, so the names of all other numbers come after ``value``. The gate is a text: plotted it would
    be a flat line.
    """
    return {
        **numbers({"value": result.value}),
        "gate": dg.MetadataValue.text(gate_text(result)),
        "verdict": dg.MetadataValue.text(result.verdict),
        **numbers({"value_numerator": result.numerator, "value_denominator": result.denominator}),
    }


def gate_text(result: CriterionResult) -> str:
    """The gate of a criterion: ``>= 0.9``."""
    return "none" if result.threshold is None else f"{result.operator} {result.threshold:g}"


def offenders_metadata(findings: Sequence[AnyFinding], namer: Subjects | None = None) -> dict[str, Any]:
    """The first offenders as a table, one row per subject, and what to do; empty without findings.

    ``namer`` knows the pages and questions of a report; while a run measures there is none.
    """
    if not findings:
        return {}
    rows = list(islice((row for finding in findings for row in _rows(finding, namer)), TABLE_ROWS))
    columns = [name for name in OFFENDER_COLUMNS if any(row[name] for row in rows) or name in _ALWAYS]
    remedies = dict.fromkeys(finding.remedy for finding in findings if finding.remedy)
    return {
        "offenders": table(rows, columns),
        **({"remedy": dg.MetadataValue.text(" ".join(islice(remedies, _NAMED)))} if remedies else {}),
    }


def offenders_in_words(document: RunDocument) -> str:
    """The first offenders of a run in words, one per line; empty without any but those for information."""
    loud = (finding for finding in document.findings if finding.severity != "info")
    rows = (row for finding in loud for row in _rows(finding, document.namer))
    return ";\n".join(f"{row['what']}: {row['problem']}" for row in islice(rows, _NAMED))


def _rows(finding: AnyFinding, namer: Subjects | None) -> Iterator[dict[str, Any]]:
    from ragval_pipeline.reporting.outline import own_first, title_of
    from ragval_pipeline.reporting.subjects import Subjects

    namer = namer or Subjects()
    reported = finding.reported() if isinstance(finding, Finding) else finding
    for name in own_first(reported) or [""]:
        yield {
            "what": namer.words(reported, name).line if name else reported.message,
            "problem": title_of(finding.code),
            "subject": name,
            "code": finding.code,
            "severity": finding.severity,
            "because": finding.because or "",
            "scope": finding.scope or "",
        }


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> dg.TableMetadataValue:
    """A table of the first ``TABLE_ROWS`` rows; cells that Dagster cannot show become text."""
    records = [dg.TableRecord({name: _cell(row.get(name)) for name in columns}) for row in islice(rows, TABLE_ROWS)]
    schema = dg.TableSchema(columns=[dg.TableColumn(name) for name in columns])
    return dg.MetadataValue.table(records=records, schema=schema)


def short(value: float | None) -> str:
    """A value for a table: four significant digits, whole thousands in full; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def console_address(uri: str) -> str | None:
    """The address at which a browser opens a file in an object store; None if there is none."""
    scheme, _, rest = uri.partition("://")
    bucket, _, name = rest.partition("/")
    return {
        "gs": f"https://storage.cloud.google.com/{quote(rest)}",
        "s3": f"https://console.aws.amazon.com/s3/object/{quote(bucket)}?prefix={quote(name)}",
        "http": uri,
        "https": uri,
    }.get(scheme)


#: Letters in one piece that the column of values has room for in a window of 1,600 pixels.
_ROOM = 56


def report_link(folder: str, *, whole: bool = True) -> dict[str, dg.MetadataValue]:
    """Where the report of a run is, and a link if a browser can open it.

    Not ``whole``: on the page of an asset, where a long path would make the column so wide that the verdict is cut.
    """
    path = f"{folder}/report.html"
    address = console_address(path)
    if not whole and len(path) > _ROOM:
        path = f"\u2026/{folder.rpartition('/')[2]}/report.html"
    return {
        "report": dg.MetadataValue.path(path),
        **({"open_report": dg.MetadataValue.md(f"[report.html]({address})")} if address else {}),
    }


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


#: Characters of a query in one line of a table.
_WIDEST = 70
#: No-break space: the UI makes columns as narrow as their words allow.
_UNBROKEN = "\u00a0"
_EXPECTED = {
    "present": "every point has it",
    "non_empty": "it is not empty",
    "type": "it has its type",
    "rule": "its value is valid",
}


def section_tables(sections: Mapping[str, Any]) -> dict[str, dg.TableMetadataValue]:
    """What is wrong in a measurement's sections, by metadata name: the report lists what is right."""
    modules = sections.get("coverage_report", {}).get("by_module") or {}
    expectations = sections.get("expectations", {}).get("results") or []
    tables = {
        "queries": (list(_queries(sections.get("query_results") or ())), ("query", "best_score", "missed")),
        "modules": (list(_modules(modules)), ("module", "pages", "missing")),
        "expectations": (list(_expectations(expectations)), ("field", "level", "expected", "observed")),
    }
    return {name: table(rows, columns) for name, (rows, columns) in tables.items() if rows}


def _expectations(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One row per expectation that is not met."""
    for result in results:
        count, wrong = result["element_count"], result["unexpected_count"]
        if not result["success"]:
            known = count and wrong is not None
            yield {
                "field": result["field"],
                "level": result["level"],
                "expected": _EXPECTED.get(result["level"], ""),
                "observed": f"{count - wrong:,} of {count:,}".replace(" ", _UNBROKEN)
                if known
                else result["exception"] or "",
            }


def _queries(results: Sequence[QueryReport]) -> Iterator[dict[str, Any]]:
    """One row per query that did not pass.

    Cells are short, because the UI breaks long ones into many lines; the report has the complete results.
    """
    from ragval_pipeline.text.display import shorten

    for result in results:
        if result.passed is not True:
            yield {
                "query": shorten(str(result.query.get("query_text") or result.query_id), _WIDEST),
                "best_score": short(result.best_similarity),
                "missed": ", ".join(result.failed_conditions) or ("error" if result.passed is None else ""),
            }


def _modules(modules: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One row per module with missing pages, those with most first."""
    for name, module in sorted(modules.items(), key=lambda item: -item[1]["missing"]):
        if module["missing"]:
            yield {"module": name, "pages": module["total"], "missing": module["missing"]}


#: A finding from a detector or from the report.
AnyFinding: TypeAlias = Finding | ReportedFinding


def evidence_for(criterion: str, findings: Sequence[AnyFinding], *, met: bool = False) -> list[AnyFinding]:
    """The findings that explain the value of a criterion.

    Also if it is ``met``: 19 of 20 queries may be enough, and the failed one is still shown. For a criterion that is
    not met and has no known evidence, everything is shown.
    """
    if criterion == "error_findings":
        return [finding for finding in findings if finding.severity == "error"]
    codes = codes_for({criterion})
    return [finding for finding in findings if finding.code in codes] or ([] if met else list(findings))


def codes_for(criteria: Collection[str]) -> set[str]:
    """The codes of the findings that explain some criteria."""
    return {row.code for row in CATALOGUE.values() if not set(row.criteria).isdisjoint(criteria)}


def masked_metadata(metadata: Mapping[str, Any], masked: Callable[[str], str]) -> dict[str, Any]:
    """Metadata with its texts and tables as they may be shown; links stay."""
    return dict(metadata) if masked is str else {name: _masked(value, masked) for name, value in metadata.items()}


def masked_check(check: dg.AssetCheckResult, masked: Callable[[str], str]) -> dg.AssetCheckResult:
    """The result of a check with its texts as they may be shown."""
    if masked is str:
        return check
    return dg.AssetCheckResult(
        asset_key=check.asset_key,
        check_name=check.check_name,
        passed=check.passed,
        severity=check.severity,
        description=None if check.description is None else masked(check.description),
        metadata=masked_metadata(check.metadata, masked),
    )


def _masked(value: Any, masked: Callable[[str], str]) -> Any:
    from ragval_pipeline.reporting.masked import masked_value

    match value:
        case str():
            return masked(value)
        case dg.TextMetadataValue(text=str(text)):
            return dg.MetadataValue.text(masked(text))
        case dg.MarkdownMetadataValue(md_str=str(text)):
            return dg.MetadataValue.md(masked(text))
        case dg.JsonMetadataValue():
            return dg.MetadataValue.json(masked_value(value.data, masked))
        case dg.TableMetadataValue():
            rows = [dg.TableRecord(masked_value(dict(row.data), masked)) for row in value.records]
            return dg.MetadataValue.table(records=rows, schema=value.schema)
    return value
