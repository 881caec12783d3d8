"""Alerts when an index turns bad, or good again: as plain text, Slack blocks and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.headline import headline
from ragval_pipeline.reporting.numbers import show_gate, show_value
from ragval_pipeline.reporting.outline import VERDICT_WORDS, reason_of, title_of
from ragval_pipeline.reporting.text import one_line, shorten
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import RunVerdict

#: Findings in an alert; the report has the rest.
TOP_FINDINGS = 5


@dataclass(frozen=True)
class ToldCriterion:
    """A required criterion that is not met: its name, value and gate in readable form, and why."""

    name: str
    value: str
    gate: str
    reason: str


@dataclass(frozen=True)
class ToldFinding:
    """A finding, and whether it is new compared with the previous validation."""

    code: str
    severity: str
    message: str
    remedy: str
    new: bool


@dataclass(frozen=True)
class Alert:
    """The content of an alert about one validation.

    Attributes:
        suite: The suite.
        verdict: Of this validation.
        before: Verdict of the previous one; None for the first.
        headline: The verdict in one sentence.
        collection: What was validated; empty if the run did not get that far.
        criteria: Required criteria that are not met or not measured.
        findings: The first to fix, new ones first.
        more_findings: Number of errors and warnings beyond these.
        run_id: Dagster's run.
        report: Location of report.html; None without a report.
        run_url: The run in Dagster's UI; None if its address is unknown.
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
    """Whether a verdict has changed, or a first one is bad."""
    return now != before and (before is not None or now != "pass")


def finding_keys(findings: Iterable[ReportedFinding]) -> frozenset[str]:
    """Keys to compare findings between validations: code and scope of errors and warnings."""
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
        before: Verdict of the previous one; None for the first.
        known: ``finding_keys`` of the previous one.
        location: Location of report.html.
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
    text = "The validation ended before it could write a report. See the run's log for the reason."
    return Alert(suite=suite, verdict="error", before=before, headline=text, run_id=run_id, run_url=run_url)


def _told(findings: Iterable[ReportedFinding], known: frozenset[str], *, first: bool) -> list[ToldFinding]:
    """Errors and warnings: new ones first, then errors first; causes stay before their consequences.

    In a first validation none is new.
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


_SIGNS = {"pass": "✅", "fail": "❌", "error": "❌", "not_measured": "⚪"}
#: Slack refuses longer texts: 150 characters of a header, 3,000 of a section.
_HEADER, _SECTION = 150, 2900


def subject(alert: Alert) -> str:
    """One line: ``Fail: physical_ai_book (was Pass)``."""
    was = f" (was {VERDICT_WORDS[alert.before]})" if alert.before else ""
    return one_line(f"{VERDICT_WORDS[alert.verdict]}: {alert.suite}{was}")


def plain_text(alert: Alert) -> str:
    """The alert for an e-mail: the verdict, the failed criteria, the top findings with what to do, the links."""
    parts = [_titled(alert), one_line(alert.headline)]
    if alert.criteria:
        parts.append(
            "\n".join(f"- {one_line(criterion_name(entry.name))} {_measured(entry)}" for entry in alert.criteria)
        )
    if alert.findings:
        parts.append("\n".join(_plain_findings(alert)))
    parts.append("\n".join(_plain_places(alert)))
    return "\n\n".join(parts) + "\n"


def slack_blocks(alert: Alert) -> list[dict[str, Any]]:
    """The alert as Block Kit blocks; ``subject`` is the text that notifications show."""
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": shorten(_titled(alert), _HEADER), "emoji": True}},
        _section(_slack(alert.headline)),
    ]
    if alert.criteria:
        told = (f"• *{_slack(criterion_name(entry.name))}* {_slack(_measured(entry))}" for entry in alert.criteria)
        blocks.append(_section("\n".join(told)))
    if alert.findings:
        blocks.append(_section("\n".join(_slack_findings(alert))))
    context = {"type": "mrkdwn", "text": shorten(" · ".join(_slack_places(alert)), _SECTION)}
    return [*blocks, {"type": "context", "elements": [context]}]


def webhook_body(alert: Alert) -> dict[str, Any]:
    """The alert as JSON: every field, and ``text``, which Slack's, Mattermost's and Teams' incoming webhooks show."""
    return {"text": plain_text(alert), "title": subject(alert), **asdict(alert)}


def _titled(alert: Alert) -> str:
    return f"{_SIGNS[alert.verdict]} {subject(alert)}"


def _measured(criterion: ToldCriterion) -> str:
    gate = f" (required: {criterion.gate})" if criterion.gate else ""
    reason = f": {shorten(criterion.reason, 200)}" if criterion.reason else ""
    return f"{criterion.value}{gate}{reason}"


def _marked(finding: ToldFinding) -> str:
    return f"{finding.severity}{', new' if finding.new else ''}"


def _more(alert: Alert) -> Iterator[str]:
    if alert.more_findings:
        yield f"and {alert.more_findings} more in the report"


def _plain_findings(alert: Alert) -> Iterator[str]:
    for finding in alert.findings:
        yield f"- {title_of(finding.code)} ({_marked(finding)}): {shorten(finding.message, 300)}"
        yield f"  {shorten(finding.remedy, 300)}"
    yield from _more(alert)


def _plain_places(alert: Alert) -> Iterator[str]:
    if alert.report:
        yield f"Report: {one_line(alert.report)}"
    yield f"Run: {one_line(alert.run_url or alert.run_id)}"
    if alert.collection:
        yield f"Collection: {one_line(alert.collection)}"


def _slack_findings(alert: Alert) -> Iterator[str]:
    for finding in alert.findings:
        head = f"• *{_slack(title_of(finding.code))}* ({_marked(finding)})"
        yield f"{head}: {_slack(finding.message)}\n_{_slack(finding.remedy)}_"
    yield from _more(alert)


def _slack_places(alert: Alert) -> Iterator[str]:
    if alert.report:
        yield _link(alert.report, "report") if is_http_url(alert.report) else f"report: {_slack(alert.report)}"
    yield _link(alert.run_url, "run") if alert.run_url else f"run {_slack(alert.run_id)}"
    if alert.collection:
        yield f"collection {_slack(alert.collection)}"


def _section(text: str) -> dict[str, Any]:
    shown = text if len(text) <= _SECTION else f"{text[: _SECTION - 1].rstrip()}…"
    return {"type": "section", "text": {"type": "mrkdwn", "text": shown}}


def _link(url: str, name: str) -> str:
    return f"<{url.replace('|', '%7C').replace('>', '%3E').replace('<', '%3C')}|{name}>"


def _slack(text: str) -> str:
    """Text without Slack links, mentions and commands: their three characters are escaped."""
    return shorten(text, 300).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
