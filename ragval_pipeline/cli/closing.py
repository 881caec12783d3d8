"""The last line of a run that does not pass: what, where and what to do.

What lives here: that one line. What does not: the summary (``reporting/terminal``).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.headline import SYSTEM_FAILURES, headline

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import ReportedFinding
    from ragval_pipeline.validation.report import ValidationReport

#: Findings that say why nothing could be measured.
_PREVENTING = frozenset({"check.crashed", "index.empty", "source.empty", "vector.dimension"})


def closing_line(report: ValidationReport) -> str:
    """Why the run does not pass, in one line; empty when it passes."""
    if report.verdict == "pass":
        return ""
    if report.verdict == "fail":
        return headline(report)
    if report.verdict == "error":
        failed = _first(report, SYSTEM_FAILURES)
        return _with_remedy(failed.message, failed.remedy) if failed else headline(report)
    prevented = _first(report, _PREVENTING)
    if prevented is not None and prevented.code == "check.crashed":
        return f"{prevented.message} --log-level DEBUG shows where."
    return _with_remedy(_unmeasured(report) or headline(report), prevented.remedy if prevented else "")


def _first(report: ValidationReport, codes: Collection[str]) -> ReportedFinding | None:
    return next((finding for finding in report.findings if finding.code in codes), None)


def _unmeasured(report: ValidationReport) -> str:
    """Which required criteria have no value, and why; empty when each has one."""
    missing = [result for result in report.criteria if result.gate_fails]
    # error_findings only repeats that the others could not be measured.
    told = [result for result in missing if result.name != "error_findings"] or missing
    reasons = dict.fromkeys(result.reason.removeprefix("not measured: ").rstrip(".") for result in told)
    names = ", ".join(result.name for result in told)
    return f"{report.collection_name}: {names} not measured: {'; '.join(reasons)}." if told else ""


def _with_remedy(message: str, remedy: str) -> str:
    """The message with its remedy, unless it holds it already."""
    return message if not remedy or remedy.rstrip(".") in message else f"{message} {remedy}"
