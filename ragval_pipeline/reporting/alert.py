"""What people are told when an index goes bad, or good again: the content of an alert."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.headline import headline
from ragval_pipeline.reporting.numbers import show_gate, show_value
from ragval_pipeline.reporting.outline import reason_of
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import RunVerdict

#: Findings that an alert tells; the report holds the rest.
TOP_FINDINGS = 5


@dataclass(frozen=True)
class ToldCriterion:
    """A required criterion that is not met: its name, value and gate as people read them, and why."""

    name: str
    value: str
    gate: str
    reason: str


@dataclass(frozen=True)
class ToldFinding:
    """A finding, and whether there was a validation before that had none of its code and scope."""

    code: str
    severity: str
    message: str
    remedy: str
    new: bool


@dataclass(frozen=True)
class Alert:
    """What there is to tell about one validation.

    Args:
        suite: The suite.
        verdict: Of this validation.
        before: Of the one told before; null for the first.
        headline: The verdict in one sentence.
        collection: What was validated; empty where the run did not come so far.
        criteria: Required criteria that are not met or not measured.
        findings: The first to take care of, new ones first.
        more_findings: Number of errors and warnings beyond these.
        run_id: Dagster's run.
        report: Where report.html is; null without a report.
        run_url: The run in Dagster's UI; null where its address is not known.
    """

    suite: str
    verdict: RunVerdict
    before: RunVerdict | None
    headline: str
    run_id: str
    collection: str = ""
    criteria: tuple[ToldCriterion, ...] = ()
    findings: tuple[ToldFinding, ...] = ()
    more_findings: int = 0
    report: str | None = None
    run_url: str | None = None


def is_worth_telling(before: RunVerdict | None, now: RunVerdict) -> bool:
    """Whether a verdict has changed; of a first one, whether it is bad."""
    return now != before and (before is not None or now != "pass")


def finding_keys(findings: Iterable[ReportedFinding]) -> frozenset[str]:
    """What tells findings apart from one validation to the next: code and scope of errors and warnings."""
    return frozenset(_key(finding) for finding in findings if finding.severity != "info")


def alert_of(
    report: ValidationReport,
    *,
    before: RunVerdict | None,
    known: Iterable[str],
    location: str | None = None,
    run_url: str | None = None,
) -> Alert:
    """The alert about a report.

    Args:
        report: Of this validation.
        before: Verdict of the one told before; null for the first.
        known: ``finding_keys`` of the one before.
        location: Where report.html is.
        run_url: The run in Dagster's UI.
    """
    told = _told(report.findings, frozenset(known), first=before is None)
    return Alert(
        suite=report.suite,
        verdict=report.verdict,
        before=before,
        headline=headline(report),
        run_id=report.run_id,
        collection=report.collection_name,
        criteria=tuple(
            ToldCriterion(result.name, show_value(result), show_gate(result), reason_of(result))
            for result in report.criteria
            if result.required and not result.excused and result.verdict != "met"
        ),
        findings=tuple(told[:TOP_FINDINGS]),
        more_findings=max(len(told) - TOP_FINDINGS, 0),
        report=location,
        run_url=run_url,
    )


def alert_without_report(suite: str, run_id: str, *, before: RunVerdict | None, run_url: str | None = None) -> Alert:
    """The alert about a run that ended before it could write a report."""
    text = "The validation ended before it could write a report; the run's log says why."
    return Alert(suite=suite, verdict="error", before=before, headline=text, run_id=run_id, run_url=run_url)


def _told(findings: Iterable[ReportedFinding], known: frozenset[str], *, first: bool) -> list[ToldFinding]:
    """Errors and warnings: new ones first, then errors first; causes stay before their consequences.

    Of a first validation, none is called new.
    """
    worth = [finding for finding in findings if finding.severity != "info"]
    worth.sort(key=lambda finding: (_key(finding) in known, finding.severity != "error"))
    return [
        ToldFinding(
            code=finding.code,
            severity=finding.severity,
            message=finding.message,
            remedy=finding.remedy,
            new=not first and _key(finding) not in known,
        )
        for finding in worth
    ]


def _key(finding: ReportedFinding) -> str:
    return f"{finding.code}|{finding.scope}" if finding.scope else finding.code
