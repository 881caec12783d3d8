"""``summary.md``: the report for a pull request or a job summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ragval_pipeline.reporting.change_view import change_view
from ragval_pipeline.reporting.headline import headline
from ragval_pipeline.reporting.history.model import RunChanges
from ragval_pipeline.reporting.numbers import show_gate, show_seconds, show_value
from ragval_pipeline.reporting.outline import (
    count_by_severity,
    following,
    index_words,
    mode_words,
    outline_criteria,
    own_first,
    reason_of,
    spent_words,
    title_of,
    traffic_words,
    verdict_words,
    would_change,
)
from ragval_pipeline.reporting.partitions import partition_words
from ragval_pipeline.reporting.subjects import Subjects, SubjectWords
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_score
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.repair.tree import FindingNode, finding_tree
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

_SPECIAL = re.compile(r"([\\`*\[\]#|~$>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|\A[-+])")
#: Marks after an address that end a clause.
_ENDS = ".,;:?!"
_NOT_IN_LINKS = re.compile(r"[<>\\`]")
_SIGNS = {"met": "✅", "not_met": "❌", "not_measured": "⚪"}
_VERDICT_SIGNS = {"pass": "✅", "fail": "❌", "error": "❌", "not_measured": "⚪"}
_SEVERITY_SIGNS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}  # noqa: RUF001 the sign is meant
_CHANGE_SIGNS = {"good": "🟢", "bad": "🔴", "warning": "⚠️", "plain": "·"}
_SUBJECTS = 5
_QUERIES = 20
#: Git hosts cut or refuse comments above 65,536 characters.
_MOST_CHARACTERS = 60_000


def summary_md(
    report: ValidationReport,
    *,
    note: str | None = None,
    changes: RunChanges | None = None,
    subjects: Subjects | None = None,
) -> bytes:
    """The report as GitHub-flavoured Markdown of at most 60,000 characters.

    ``note`` is a remark before the numbers, e.g. why scores are low.
    """
    lines: list[str] = []
    length = 0
    for line in _lines(report, note, changes, subjects or Subjects(report)):
        length += len(line) + 1
        if length > _MOST_CHARACTERS:
            lines += ["", "The rest is in report.html."]
            break
        lines.append(line)
    return ("\n".join(lines) + "\n").encode()


def escape(text: str, length: int = 300) -> str:
    """Text escaped for Markdown, on one line, at most ``length`` characters."""
    return " ".join(_word(word) for word in shorten(text, length).split(" "))


def _word(word: str) -> str:
    stem = word.rstrip(_ENDS)
    while stem.endswith(")") and stem.count(")") > stem.count("("):  # of the sentence, not of the address
        stem = stem[:-1].rstrip(_ENDS)
    if is_http_url(stem) and not _NOT_IN_LINKS.search(stem):
        return f"<{stem.replace('|', '%7C')}>{word[len(stem) :]}"
    safe = _SPECIAL.sub(r"\\\1", word.replace("&", "&amp;").replace("<", "&lt;"))
    # An empty comment prevents accidental mentions of people and issues.
    return safe.replace("@", "@<!-- -->").replace("\\#", "\\#<!-- -->")


def _lines(report: ValidationReport, note: str | None, changes: RunChanges | None, subjects: Subjects) -> Iterator[str]:
    yield f"## {_VERDICT_SIGNS[report.verdict]} {verdict_words(report)}: {escape(report.title)}"
    yield ""
    yield escape(headline(report), 600)
    yield ""
    if note:
        yield f"> {escape(note, 600)}"
        yield ""
    yield from _changes(changes)
    yield from _findings(report, subjects)
    yield from _criteria(report)
    yield from _queries(report.query_results)
    spent = spent_words(report)
    aside = "".join(f"{escape(told)}, " for told in (*index_words(report), *mode_words(report), *traffic_words(report)))
    yield (
        f"<sub>collection {escape(report.collection_name)}, {aside}run {escape(report.run_id)}, "
        f"{escape(report.timestamp)}, {show_seconds(report.duration_seconds)}{', ' * bool(spent)}{spent}</sub>"
    )


def _changes(changes: RunChanges | None) -> Iterator[str]:
    view = change_view(changes)
    if view is None:
        return
    nothing = " no verdict, criterion, query, page or number of findings changed."
    yield f"Since {escape(view.since)}:{'' if view.lines else nothing}"
    yield ""
    for line in view.lines:
        queries = f": {', '.join(escape(name, 80) for name in line.queries[:_SUBJECTS])}" if line.queries else ""
        yield f"- {_CHANGE_SIGNS[line.tone]} **{escape(line.subject)}** {escape(line.text)}{queries}"
    if view.more:
        yield f"- {plural(view.more, 'change')} more"
    yield ""


def _criteria(report: ValidationReport) -> Iterator[str]:
    outline = outline_criteria(report.criteria)
    below = [result for result in outline.shown if result.verdict == "not_met"]
    yield from _table([*outline.required, *below], bold=frozenset(result.name for result in outline.required))
    rest = [result for result in outline.shown if result.verdict != "not_met"]
    if rest:
        yield f"<details><summary>{plural(len(rest), 'more criterion')}</summary>"
        yield ""
        yield from _table(rest)
        yield "</details>"
        yield ""
    if lines := partition_words(report):
        yield escape(lines[0])
        yield ""
        yield from (f"- {escape(line)}" for line in lines[1:])
        yield ""
    if outline.unmeasured:
        yield f"<details><summary>{plural(len(outline.unmeasured), 'criterion')} not measured</summary>"
        yield ""
        told = ((criterion_name(result.name), reason_of(result)) for result in outline.unmeasured)
        yield from (f"- {escape(name)}: {escape(reason)}" for name, reason in told)
        yield ""
        yield "</details>"
        yield ""


def _table(results: Sequence[CriterionResult], *, bold: frozenset[str] = frozenset()) -> Iterator[str]:
    yield "| | criterion | value | gate | |"
    yield "|---|---|---:|---:|---|"
    yield from (_criterion(result, bold=result.name in bold) for result in results)
    yield ""


def _criterion(result: CriterionResult, *, bold: bool) -> str:
    title = escape(criterion_name(result.name))
    name = f"{f'**{title}**' if bold else title} `{result.name}`"
    sign = _SIGNS[result.verdict] if bold or result.verdict != "not_met" else _SEVERITY_SIGNS["warning"]
    # A number without a gate has not passed anything.
    sign = "·" if result.verdict == "met" and result.threshold is None else sign
    # A narrow cell would wrap before the unit.
    value, gate = (shown.replace(" ", "\N{NO-BREAK SPACE}") for shown in (show_value(result), show_gate(result)))
    return f"| {sign} | {name} | {value} | {gate} | {escape(reason_of(result), 160)} |"


def _findings(report: ValidationReport, subjects: Subjects) -> Iterator[str]:
    if not report.findings:
        yield "No findings."
        yield ""
        return
    counts = count_by_severity(report.findings)
    words = [plural(count, severity) for severity, count in counts.items() if count and severity != "info"]
    yield "### Findings: " + ", ".join([*words, *([f"{counts['info']:,} info"] if counts["info"] else [])])
    yield ""
    for node in finding_tree(report.findings):
        yield from _finding(node, subjects, "")
    yield ""


def _finding(node: FindingNode, subjects: Subjects, indent: str) -> Iterator[str]:
    finding = node.finding
    scope = f" ({escape(finding.scope)})" if finding.scope else ""
    title = f"**{escape(title_of(finding.code))}**{scope} `{finding.code}`"
    yield f"{indent}- {_SEVERITY_SIGNS[finding.severity]} {title}: {escape(subjects.message(finding))}"
    told = " ".join(filter(None, (following(finding)[1] if indent else "", would_change(finding))))
    yield f"{indent}  *{escape(finding.remedy)}*{f' {escape(told)}' if told else ''}"
    for name in own_first(finding)[:_SUBJECTS]:
        yield f"{indent}  - {_subject(subjects.words(finding, name))}"
    if finding.count > _SUBJECTS:
        yield f"{indent}  - and {finding.count - _SUBJECTS:,} more"
    for below in node.consequences:
        yield from _finding(below, subjects, indent + "  ")


def _subject(words: SubjectWords) -> str:
    """A subject in words, linked to its page."""
    named = escape(words.line)
    if not words.url or not is_http_url(words.url) or _NOT_IN_LINKS.search(words.url):
        return named
    title = escape(words.title)
    return f"[{title}](<{words.url.replace('|', '%7C')}>){named.removeprefix(title)}"


def _queries(queries: Iterable[QueryReport]) -> Iterator[str]:
    missed = [query for query in queries if query.counted and query.passed is not True]
    if not missed:
        return
    yield f"### {plural(len(missed), 'query')} not passed"
    yield ""
    yield "| query | text | best score | reason |"
    yield "|---|---|---:|---|"
    for query in missed[:_QUERIES]:
        text = escape(str(query.query.get("query_text", "")), 160)
        reason = escape(query.fail_reason or query.status, 200)
        yield f"| {escape(query.query_id)} | {text} | {show_score(query.best_similarity)} | {reason} |"
    yield ""
    if len(missed) > _QUERIES:
        yield f"{len(missed) - _QUERIES:,} more in query\\_results.csv."
        yield ""
