"""``junit.xml``: criteria and queries as tests for CI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from ragval_pipeline.reporting.document import RunDocument
from ragval_pipeline.reporting.numbers import show_gate, show_value
from ragval_pipeline.text.display import one_line, shorten, xml_text
from ragval_pipeline.text.numbers import show_score
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

Kind = Literal["failure", "error", "skipped"]

#: Reasons that are errors whether or not the criterion is required.
_BROKEN = frozenset({"unreachable", "crashed"})


@dataclass(frozen=True)
class Case:
    """One test: its name, seconds, and what went wrong (``kind`` None: nothing)."""

    name: str
    seconds: float = 0.0
    kind: Kind | None = None
    message: str = ""
    text: str = ""


def junit_xml(document: RunDocument) -> bytes:
    """The run as JUnit XML: a suite ``criteria`` and a suite ``queries``, each with what failed first.

    A required criterion that is not met is a failure; one that could not be measured is an error; others that are not
    met are skipped. A query fails if its expectation is missed and is an error if it could not be run.
    """
    report = document.report
    root = ET.Element("testsuites", name=xml_text(report.title))
    suites = {
        "criteria": [criterion_case(result) for result in document.criteria.all],
        "queries": [query_case(query) for _, query in document.questions],
    }
    for name, cases in suites.items():
        root.append(_suite(report, name, cases))
    for attribute in ("tests", "failures", "errors", "skipped"):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in root)))
    root.set("time", f"{report.duration_seconds:.3f}")
    ET.indent(root)
    text: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def criterion_case(result: CriterionResult) -> Case:
    """A criterion as a test."""
    if result.verdict == "met":
        return Case(result.name)
    if result.verdict == "not_met":
        message = f"{show_value(result)}, must be {show_gate(result)}"
        if result.required:
            return Case(result.name, kind="failure", message=message, text=result.reason)
        return Case(result.name, kind="skipped", message=f"not required: {message}")
    if result.reason_code in _BROKEN or (result.required and not result.excused):
        return Case(result.name, kind="error", message=result.reason)
    return Case(result.name, kind="skipped", message=result.reason)


def query_case(query: QueryReport) -> Case:
    """A query as a test."""
    name = f"{query.query_id}: {shorten(str(query.query.get('query_text', '')), 120)}"
    seconds = ((query.embedding_ms or 0.0) + (query.search_time_ms or 0.0)) / 1000
    if query.passed:
        return Case(name, seconds)
    reason = query.fail_reason or "no verdict"
    if query.status == "error":
        return Case(name, seconds, "error", reason)
    if query.passed is None:
        return Case(name, seconds, "skipped", reason)
    return Case(name, seconds, "failure", reason, "\n".join(_hit_lines(query)))


def _hit_lines(query: QueryReport) -> Iterable[str]:
    for hit in query.top_results:
        where = hit.source_url or hit.chunk_id
        yield f"{hit.rank}. {show_score(hit.similarity_score)} {hit.module_name or '-'} {one_line(where)}"


def _suite(report: ValidationReport, name: str, cases: list[Case]) -> ET.Element:
    kinds = [case.kind for case in cases]
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
        time=f"{sum(case.seconds for case in cases):.3f}",
        timestamp=report.timestamp.removesuffix("Z"),
    )
    for case in cases:
        element = ET.SubElement(
            suite,
            "testcase",
            classname=xml_text(f"{report.title}.{name}"),
            name=xml_text(case.name),
            time=f"{case.seconds:.3f}",
        )
        if case.kind is not None:
            outcome = ET.SubElement(element, case.kind, message=xml_text(case.message))
            outcome.text = xml_text(case.text) or None
    return suite
