"""Alerts when an index turns bad, or good again: as plain text, Slack blocks and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.document import RunDocument
from ragval_pipeline.reporting.numbers import show_gate, show_value
from ragval_pipeline.reporting.outline import VERDICT_SIGNS, VERDICT_WORDS, reason_of, title_of
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.display import one_line, shorten
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
    document: RunDocument,
    *,
    before: RunVerdict | None,
    known: Iterable[str],
    location: str | None = None,
    run_url: str | None = None,
) -> Alert:
    """The alert about a run.

    Args:
        document: Of this validation.
        before: Verdict of the previous one; None for the first.
        known: ``finding_keys`` of the previous one.
        location: Location of report.html.
        run_url: The run in Dagster's UI.
    """
    report = document.report
    told = _told(document.findings, frozenset(known), first=before is None)
    return Alert(
        suite=report.suite,
        verdict=report.verdict,
        before=before,
        headline=document.sentence,
        run_id=report.run_id,
        collection=report.collection_name,
        criteria=tuple(
            ToldCriterion(result.name, show_value(result), show_gate(result), reason_of(result))
            for result in document.criteria.missed
            if not result.excused
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
    """Errors and warnings of a document, new ones first; in a first validation none is new."""
    worth = sorted((entry for entry in findings if entry.severity != "info"), key=lambda entry: _key(entry) in known)
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


#: Slack refuses longer texts: 150 characters of a header, 3,000 of a section.
_HEADER, _SECTION = 150, 2900


def subject(alert: Alert) -> str:
    """One line: ``Fail: physical_ai_book (was Pass)``."""
    was = f" (was {VERDICT_WORDS[alert.before]})" if alert.before else ""
    return one_line(f"{VERDICT_WORDS[alert.verdict]}: {alert.suite}{was}")


def plain_text(alert: Alert) -> str:
    """The alert for an e-mail: the verdict, the failed criteria, the top findings with what to do, the links."""
    return f"{_titled(alert)}\n\n{body_text(alert)}"


def body_text(alert: Alert, limit: int | None = None) -> str:
    """``plain_text`` without its title, in ``limit`` characters where leaving out findings, then criteria, suffices."""
    places = {"Report": alert.report, "Run": alert.run_url or alert.run_id, "Collection": alert.collection}
    told = [f"{name}: {one_line(place)}" for name, place in places.items() if place]
    text = "\n\n".join(map("\n".join, [*_paragraphs(alert, _PLAIN), told])) + "\n"
    if limit is None or len(text) <= limit or not (alert.findings or alert.criteria):
        return text
    if alert.findings:
        fewer = replace(alert, findings=alert.findings[:-1], more_findings=alert.more_findings + 1)
    else:
        fewer = replace(alert, criteria=alert.criteria[:-1])
    return body_text(fewer, limit)


def slack_blocks(alert: Alert) -> list[dict[str, Any]]:
    """The alert as Block Kit blocks; ``subject`` is the text that notifications show."""
    title = {"type": "plain_text", "text": shorten(_titled(alert), _HEADER), "emoji": True}
    sections = (_cut("\n".join(lines)) for lines in _paragraphs(alert, _SLACK))
    places = [_place("report", alert.report), _place("run", alert.run_url, alert.run_id)]
    places += [f"collection {_escaped(alert.collection)}"] if alert.collection else []
    context = {"type": "mrkdwn", "text": shorten(" · ".join(filter(None, places)), _SECTION)}
    return [
        {"type": "header", "text": title},
        *({"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in sections),
        {"type": "context", "elements": [context]},
    ]


def webhook_body(alert: Alert) -> dict[str, Any]:
    """The alert as JSON: every field, and ``text``, which Slack's, Mattermost's and Teams' incoming webhooks show."""
    return {"text": plain_text(alert), "title": subject(alert), **asdict(alert)}


def _titled(alert: Alert) -> str:
    return f"{VERDICT_SIGNS[alert.verdict]} {subject(alert)}"


@dataclass(frozen=True)
class _Style:
    """How a medium writes an entry, its name, a text, and what to do."""

    bullet: str
    name: str
    text: Callable[[str], str]
    remedy: str


def _paragraphs(alert: Alert, style: _Style) -> Iterator[list[str]]:
    """The verdict, the criteria and the findings, a line for each."""
    yield [style.text(alert.headline)]
    if alert.criteria:
        yield [
            f"{style.bullet} {style.name.format(style.text(criterion_name(entry.name)))} {style.text(_measured(entry))}"
            for entry in alert.criteria
        ]
    if alert.findings:
        lines = []
        for entry in alert.findings:
            name = style.name.format(style.text(title_of(entry.code)))
            marked = f"{entry.severity}{', new' if entry.new else ''}"
            lines.append(f"{style.bullet} {name} ({marked}): {style.text(entry.message)}")
            lines.append(style.remedy.format(style.text(entry.remedy)))
        yield [*lines, *([f"and {alert.more_findings} more in the report"] if alert.more_findings else [])]


def _measured(criterion: ToldCriterion) -> str:
    gate = f" (required: {criterion.gate})" if criterion.gate else ""
    reason = f": {shorten(criterion.reason, 200)}" if criterion.reason else ""
    return f"{criterion.value}{gate}{reason}"


def _cut(text: str) -> str:
    return text if len(text) <= _SECTION else f"{text[: _SECTION - 1].rstrip()}…"


def _place(name: str, url: str | None, otherwise: str | None = None) -> str:
    """A link under its name if there is a URL, else where it is; empty if unknown."""
    if not is_http_url(url):
        place = url or otherwise
        return f"{name} {_escaped(place)}" if place else ""
    return f"<{url.replace('|', '%7C').replace('>', '%3E').replace('<', '%3C')}|{name}>"


def _escaped(text: str) -> str:
    """Text without Slack links, mentions and commands: their three characters are escaped."""
    return shorten(text, 300).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_PLAIN = _Style("-", "{}", lambda text: shorten(text, 600), "  {}")
_SLACK = _Style("•", "*{}*", _escaped, "_{}_")
