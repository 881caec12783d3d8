"""An alert as plain text, as Slack blocks and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ragval_pipeline.reporting.alert import Alert, ToldCriterion, ToldFinding
from ragval_pipeline.reporting.outline import VERDICT_WORDS, title_of
from ragval_pipeline.reporting.text import one_line, shorten
from ragval_pipeline.sources.site.urls import is_http_url
from ragval_pipeline.suite.criteria import criterion_name

_SIGNS = {"pass": "✅", "fail": "❌", "error": "❌", "not_measured": "⚪"}
#: Slack refuses longer texts: 150 characters of a header, 3,000 of a section.
_HEADER, _SECTION = 150, 2900


def subject(alert: Alert) -> str:
    """One line: ``Fail: physical_ai_book (was Pass)``."""
    was = f" (was {VERDICT_WORDS[alert.before]})" if alert.before else ""
    return one_line(f"{VERDICT_WORDS[alert.verdict]}: {alert.suite}{was}")


def plain_text(alert: Alert) -> str:
    """The alert for an e-mail: the verdict, the failed criteria, the top findings with what to do, the links."""
    parts = [f"{_SIGNS[alert.verdict]} {subject(alert)}", one_line(alert.headline)]
    if alert.criteria:
        parts.append("\n".join(f"- {_criterion(criterion)}" for criterion in alert.criteria))
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


def _criterion(criterion: ToldCriterion) -> str:
    return f"{one_line(criterion_name(criterion.name))} {_measured(criterion)}"


def _measured(criterion: ToldCriterion) -> str:
    gate = f" (asked: {criterion.gate})" if criterion.gate else ""
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
    """Text in which Slack sees no link, no mention and no command: it asks for these three to be escaped."""
    return shorten(text, 300).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
