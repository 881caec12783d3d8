"""``summary.md``: the report for a pull request or a job summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ragval_pipeline.reporting.change_view import ChangeView
from ragval_pipeline.reporting.document import Criteria, FindingEntry, RunDocument
from ragval_pipeline.reporting.numbers import show_gate, show_seconds, show_value
from ragval_pipeline.reporting.outline import VERDICT_SIGNS, reason_of
from ragval_pipeline.reporting.subjects import SubjectWords
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_score
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.verdict import CriterionResult

_SPECIAL = re.compile(r"([\\`*\[\]#|~$>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|\A[-+])")
#: Marks after an address that end a clause.
_ENDS = ".,;:?!"
_NOT_IN_LINKS = re.compile(r"[<>\\`]")
_SIGNS = {"met": "✅", "not_met": "❌", "not_measured": "⚪"}
_SEVERITY_SIGNS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}  # noqa: RUF001 the sign is meant
_CHANGE_SIGNS = {"good": "🟢", "bad": "🔴", "warning": "⚠️", "plain": "·"}
_SUBJECTS = 5
_QUERIES = 20
#: Git hosts cut or refuse comments above 65,536 characters.
_MOST_CHARACTERS = 60_000


def summary_md(document: RunDocument) -> bytes:
    """The run as GitHub-flavoured Markdown of at most 60,000 characters."""
    lines: list[str] = []
    length = 0
    for line in _lines(document):
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


def _lines(document: RunDocument) -> Iterator[str]:
    report = document.report
    yield f"## {VERDICT_SIGNS[report.verdict]} {document.word}: {escape(report.title)}"
    yield ""
    yield escape(document.sentence, 600)
    yield ""
    if document.note:
        yield f"> {escape(document.note, 600)}"
        yield ""
    yield from _changes(document.changes)
    yield from _findings(document)
    yield from _criteria(document.criteria)
    yield from _partitions(document.partition_words)
    yield from _unmeasured(document.criteria.unmeasured)
    yield from _queries(document)
    aside = "".join(f"{escape(told)}, " for told in document.about)
    yield (
        f"<sub>collection {escape(report.collection_name)}, {aside}run {escape(report.run_id)}, "
        f"{escape(report.timestamp)}, {show_seconds(report.duration_seconds)}{', ' * bool(document.spent)}"
        f"{document.spent}</sub>"
    )


def _changes(view: ChangeView | None) -> Iterator[str]:
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


def _criteria(criteria: Criteria) -> Iterator[str]:
    required = frozenset(result.name for result in criteria.required)
    yield from _table([*criteria.required, *criteria.below], bold=required)
    if criteria.fine:
        yield f"<details><summary>{plural(len(criteria.fine), 'more criterion')}</summary>"
        yield ""
        yield from _table(criteria.fine)
        yield "</details>"
        yield ""


def _partitions(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield escape(lines[0])
        yield ""
        yield from (f"- {escape(line)}" for line in lines[1:])
        yield ""


def _unmeasured(results: Sequence[CriterionResult]) -> Iterator[str]:
    if results:
        yield f"<details><summary>{plural(len(results), 'criterion')} not measured</summary>"
        yield ""
        told = ((criterion_name(result.name), reason_of(result)) for result in results)
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


def _findings(document: RunDocument) -> Iterator[str]:
    if not document.tree:
        yield "No findings."
        yield ""
        return
    yield f"### Findings: {document.counted}"
    yield ""
    for entry in document.tree:
        yield from _finding(entry, "")
    yield ""


def _finding(entry: FindingEntry, indent: str) -> Iterator[str]:
    finding = entry.finding
    scope = f" ({escape(finding.scope)})" if finding.scope else ""
    title = f"**{escape(entry.title)}**{scope} `{finding.code}`"
    yield f"{indent}- {_SEVERITY_SIGNS[finding.severity]} {title}: {escape(entry.message)}"
    told = " ".join(filter(None, (entry.follows[1] if indent else "", entry.would_change)))
    yield f"{indent}  *{escape(finding.remedy)}*{f' {escape(told)}' if told else ''}"
    for words in entry.subjects(0, _SUBJECTS):
        yield f"{indent}  - {_subject(words)}"
    if finding.count > _SUBJECTS:
        yield f"{indent}  - and {finding.count - _SUBJECTS:,} more"
    for below in entry.below:
        yield from _finding(below, indent + "  ")


def _subject(words: SubjectWords) -> str:
    """A subject in words, linked to its page."""
    named = escape(words.line)
    if not words.url or not is_http_url(words.url) or _NOT_IN_LINKS.search(words.url):
        return named
    title = escape(words.title)
    return f"[{title}](<{words.url.replace('|', '%7C')}>){named.removeprefix(title)}"


def _queries(document: RunDocument) -> Iterator[str]:
    if not document.failed:
        return
    yield f"### {plural(document.failed, 'query')} not passed"
    yield ""
    yield "| query | text | best score | reason |"
    yield "|---|---|---:|---|"
    for query in islice(document.failed_questions, _QUERIES):
        text = escape(str(query.query.get("query_text", "")), 160)
        reason = escape(query.fail_reason or query.status, 200)
        yield f"| {escape(query.query_id)} | {text} | {show_score(query.best_similarity)} | {reason} |"
    yield ""
    if document.failed > _QUERIES:
        yield f"{document.failed - _QUERIES:,} more in query\\_results.csv."
        yield ""
