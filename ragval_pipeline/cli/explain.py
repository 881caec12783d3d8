"""``ragval explain``: what a finding or a criterion means, how it is measured, and how to mend it."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile
from ragval_pipeline.cli.terminal import stdout_console, tolerating_closed_pipe
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.nearest import did_you_mean

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import ReportedFinding
    from ragval_pipeline.reporting.run import Run

#: A title, and the paragraphs under it.
_Section = tuple[str, list[str]]
#: Subjects of a finding of a run that are shown.
_SHOWN = 10
#: Which list of remediation.json holds the subjects of each kind of remedy.
_LISTS = {
    "reingest": "reingest_urls", "delete": "delete_point_ids, delete_pages and review_point_ids", "chunker": "chunker",
    "setting": "settings", "site": "site", "query": "queries", "report": "report",
}  # fmt: skip
#: What docstrings hold for programmers only.
_FOR_PROGRAMMERS = ("What lives here", "Args:", "Attributes:", "Returns:", "Raises:", "Yields:")


def _names(incomplete: str) -> list[str]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import known_names

    return [name for name in (*known_names(), *CATALOGUE) if name.startswith(incomplete)]


def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            autocompletion=_names,
            help="A finding (chunk.too_small), a criterion (coverage), or a finding of a kept run "
            "(last:chunk.too_small, RUN:CODE).",
        ),
    ],
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    log_level: LogLevel = None,
) -> int:
    """Explain a finding or a criterion: what it means, how it is measured, where the line is, how to mend it."""
    from ragval_pipeline.reporting.terminal.lines import LinePrinter

    title, sections = _explained(name, suite)
    printer = LinePrinter(stdout_console())
    with tolerating_closed_pipe():
        printer.line((title, "bold"), (f"  {name}", "dim"))
        for heading, paragraphs in sections:
            printer.line()
            printer.line((heading, "bold"))
            for paragraph in paragraphs:
                printer.line((paragraph, ""), indent=2)
    return 0


def _explained(name: str, suite: Path) -> tuple[str, list[_Section]]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import criterion_name, is_criterion, known_names

    run, colon, code = name.rpartition(":")
    if colon and code in CATALOGUE:
        return CATALOGUE[code].title, [*_of_run(run, code, suite), *_of_finding(code)]
    if name in CATALOGUE:
        return CATALOGUE[name].title, list(_of_finding(name))
    if is_criterion(name):
        return criterion_name(name), list(_of_criterion(name))
    remedy = did_you_mean(code or name, [*CATALOGUE, *known_names()])
    raise SuiteError(f"nothing is called {code or name}", key="explain", remedy=remedy)


def _of_run(name: str, code: str, suite: Path) -> Iterator[_Section]:
    """What a kept run found, in each scope of the code."""
    from ragval_pipeline.cli.runs import kept_run

    run = kept_run(name, suite)
    found = [finding for finding in run.report.findings if finding.code == code]
    if not found:
        codes = list(dict.fromkeys(finding.code for finding in run.report.findings))
        remedy = f"It found: {', '.join(codes)}." if codes else "It has no findings."
        raise SuiteError(f"the run did not find {code}", key=name, remedy=remedy)
    for finding in found:
        scope = f" ({finding.scope})" if finding.scope else ""
        yield f"In the run {Path(run.folder).name}{scope}", list(_told(run, finding))


def _told(run: Run, finding: ReportedFinding) -> Iterator[str]:
    yield finding.message
    measured = finding.details.get("subjects", {})
    for subject in finding.subjects[:_SHOWN]:
        yield f"· {_subject(subject, measured.get(subject, {}))}"
    if finding.count > _SHOWN:
        yield f"and {finding.count - _SHOWN:,} more in {run.folder}/findings.parquet"
    yield f"Why: {finding.cause}"
    if finding.because:
        yield f"It follows from {finding.because}."
    yield f"Do: {finding.remedy}"


def _subject(name: str, measured: dict[str, Any]) -> str:
    """A subject with what was measured on it, its page first."""
    page = measured.get("page_url")
    values = [f"{key.replace('_', ' ')} {_short(value)}" for key, value in measured.items() if key != "page_url"]
    return ", ".join([f"{page} (point {name})" if page else name, *values])


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _of_finding(code: str) -> Iterator[_Section]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.findings.graph import can_follow, consequences_of

    row = CATALOGUE[code]
    worse = "" if row.error_share is None else f"; an error from {row.error_share:.0%} of the points on"
    yield "What it says", [f"A {row.subject_kind} {row.means}. Severity: {row.severity}{worse}."]
    if measured := _measured(code):
        yield "How it is measured", measured
    yield from _lines(code)
    yield "Why it happens", [row.cause]
    yield "How to mend it", [row.remedy, f"remediation.json of a run lists them under {_LISTS[row.action]}."]
    causes = [other for other in CATALOGUE if other != code and can_follow(code, other)]
    if causes:
        yield "May follow from", [", ".join(causes)]
    if consequences := sorted(consequences_of(code) - {code}):
        yield "May lead to", [", ".join(consequences)]
    yield (
        "How to switch it off",
        [
            f"In the suite file: severity: {{{code}: off}}; error, warning and info change how much it weighs.",
            *([f"Measured by the group {row.group}: ragval run --only {row.group}."] if row.level != "run" else []),
        ],
    )


def _of_criterion(name: str) -> Iterator[_Section]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import DEFAULT_GATES, criterion_of

    criterion = criterion_of(name)
    assert criterion is not None
    yield "What it is", [f"{criterion.means[0].upper()}{criterion.means[1:].rstrip('.')}."]
    gate = "None: it is shown and decides nothing." if criterion.threshold is None else (
        f"{criterion.operator} {criterion.threshold:g}, unless the profile or the suite sets another."
    )  # fmt: skip
    required = name in DEFAULT_GATES
    yield "Where the line is", [gate, "Required of every run without a profile." if required else "Not required."]
    yield from _lines(name)
    if judged := [row.code for row in CATALOGUE.values() if name in row.judged_by]:
        yield "Findings about the same", [", ".join(judged)]
    threshold = 0.9 if criterion.threshold is None else criterion.threshold
    group = criterion.group
    yield (
        "How to require it, or switch it off",
        [
            f"In the suite file: criteria: {{{name}: {threshold:g}}} requires it, {{{name}: null}} switches it off.",
            *([f"Measured by the group {group}: ragval run --only {group}."] if group else []),
        ],
    )


def _measured(code: str) -> list[str]:
    """What the code's detector and its module say of it, paragraph by paragraph."""
    from ragval_pipeline.validation.detectors import registered

    own = next((each for each in registered().values() if code in each.codes), None)
    if own is None:
        return []
    texts = (inspect.getdoc(said) or "" for said in (own.find, sys.modules[own.find.__module__]))
    paragraphs = [" ".join(text.split()) for text in "\n\n".join(texts).replace("``", "").split("\n\n")]
    return [text for text in dict.fromkeys(paragraphs) if text and not text.startswith(_FOR_PROGRAMMERS)]


def _lines(name: str) -> Iterator[_Section]:
    from ragval_pipeline.validation.thresholds import table

    group = name.split(".", maxsplit=1)[0]
    rows = [row for row in table() if name in row.codes or ("." in name and group in row.codes)]
    if rows:
        yield "Thresholds", [f"{row.value:.4g} ({row.unit}): {row.reason}. {row.evidence}." for row in rows]
