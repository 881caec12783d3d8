"""``ragval explain``: what a finding or a criterion means, how it is measured, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile
from ragval_pipeline.cli.terminal import printing
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.text.printing import nearest

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import ReportedFinding
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.reporting.subjects import Subjects
    from ragval_pipeline.reporting.terminal.lines import LinePrinter

#: A title, and the paragraphs under it.
_Section = tuple[str, list[str]]
#: Subjects of a run's finding that are shown.
_SHOWN = 10
#: Thresholds that are shown.
_LINES = 4
#: Criteria with a rank at their end.
_RANKED = ("hit_at", "precision_at", "recall_at", "ndcg_at")
#: The list of remediation.json for each kind of remedy.
_LISTS = {
    "reingest": "reingest_urls and delete_after_ingesting",
    "delete": "delete_point_ids, delete_after_ingesting, delete_pages and review_point_ids", "chunker": "chunker",
    "setting": "settings", "site": "site", "query": "queries", "report": "report", "rule": "rules",
}  # fmt: skip


def _names(incomplete: str) -> list[str]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import known_names

    return [name for name in (*known_names(), *CATALOGUE) if name.startswith(incomplete)]


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT",
            autocompletion=_names,
            help="A finding (chunk.too_small), a criterion (coverage), or a finding of an earlier run "
            "(last:chunk.too_small, RUN:CODE). Default: all names.",
        ),
    ] = None,
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    log_level: LogLevel = None,
) -> int:
    """Explain a finding or a criterion: what it means, how it is measured, its thresholds, how to fix it."""
    if name is None:
        with printing() as printer:
            _list(printer)
        return 0
    title, sections = explained(name, suite)
    with printing() as printer:
        printer.line((title, "bold"), (f"  {name}", "dim"))
        for heading, paragraphs in sections:
            printer.line()
            printer.line((heading, "bold"))
            for paragraph in paragraphs:
                printer.line((paragraph, ""), indent=2)
    return 0


def _list(printer: LinePrinter) -> None:
    """The names of all findings and criteria, each with its title."""
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import criterion_name, fixed_names

    ranked = {f"{name}_K": criterion_name(f"{name}_5").replace("top 5", "top K") for name in _RANKED}
    findings = {code: row.title for code, row in CATALOGUE.items()}
    for heading, titles in (
        ("Findings", findings),
        ("Criteria", {name: criterion_name(name) for name in fixed_names()} | ranked),
    ):
        printer.line((heading, "bold"))
        width = max(map(len, titles))
        for name, title in titles.items():
            printer.line((title, ""), lead=[(f"  {name:{width}}  ", "bold")])


def explained(name: str, suite: Path) -> tuple[str, list[_Section]]:
    """The title of a finding or criterion, and what is to be said about it, as headings with paragraphs.

    Raises:
        SuiteError: There is nothing of that name, or the run that it names did not find it.
    """
    from ragval_pipeline.findings.catalogue import CATALOGUE, OWN_PREFIX
    from ragval_pipeline.suite.criteria import criterion_name, is_criterion, known_names

    run, colon, code = name.rpartition(":")
    if code.startswith(OWN_PREFIX):
        of_run = list(_of_run(run, code, suite)) if colon else []
        return CATALOGUE[code].title, [*of_run, *_of_own_rule(code, suite, was_found=bool(of_run))]
    if colon and code in CATALOGUE:
        return CATALOGUE[code].title, [*_of_run(run, code, suite), *_of_finding(code)]
    if name in CATALOGUE:
        return CATALOGUE[name].title, list(_of_finding(name))
    if is_criterion(name):
        return criterion_name(name), list(_of_criterion(name))
    near = nearest(code or name, [*CATALOGUE, *known_names()], count=1)
    remedy = f"Did you mean {near[0]}?" if near else "ragval explain lists all names."
    raise SuiteError(f"there is nothing called {code or name}", key="explain", remedy=remedy)


def _of_run(name: str, code: str, suite: Path) -> Iterator[_Section]:
    """The findings of a stored run, in each scope of the code."""
    from ragval_pipeline.cli.runs import kept_run
    from ragval_pipeline.reporting.corpus import CorpusFiles, names_in, read_corpus
    from ragval_pipeline.reporting.subjects import Subjects
    from ragval_pipeline.sources.storage import open_folder

    run = kept_run(name, suite)
    of_code = [finding for finding in run.report.findings if finding.code == code]
    if not of_code:
        codes = list(dict.fromkeys(finding.code for finding in run.report.findings))
        remedy = f"It found: {', '.join(codes)}." if codes else "It has no findings."
        raise SuiteError(f"the run did not find {code}", key=name, remedy=remedy)
    files = CorpusFiles.of_run(open_folder(run.folder))
    subjects = Subjects(run.report, read_corpus(files, names_in(run.report), lengths=False))
    for finding in of_code:
        scope = f" ({finding.scope})" if finding.scope else ""
        yield f"In the run {Path(run.folder).name}{scope}", list(_told(run, finding, subjects))


def _told(run: Run, finding: ReportedFinding, subjects: Subjects) -> Iterator[str]:
    """The finding's sentence, its subjects as in the report, and its own cause and remedy."""
    from ragval_pipeline.findings.catalogue import CATALOGUE, OWN_PREFIX
    from ragval_pipeline.reporting.outline import following, own_first

    yield subjects.message(finding)
    for name in own_first(finding)[:_SHOWN]:
        words = subjects.words(finding, name)
        yield f"· {words.line}" + (f" {words.url}" if words.url else "")
    if finding.count > _SHOWN:
        yield f"and {finding.count - _SHOWN:,} more in findings.parquet of {run.folder}"
    if finding.because:
        yield following(finding)[1] or f"It follows from {finding.because}."
    # The texts of a rule of one's own are those that it had in the run.
    usual = None if finding.code.startswith(OWN_PREFIX) else CATALOGUE[finding.code]
    if usual is None or finding.cause != usual.cause:
        yield f"Here: {finding.cause}"
    if usual is None or finding.remedy != usual.remedy:
        yield f"Do: {finding.remedy}"


def _of_own_rule(code: str, suite_file: Path, *, was_found: bool) -> Iterator[_Section]:
    """A rule of the suite: its query and its texts; that it is gone, if a run found what it names."""
    from ragval_pipeline.suite.load import load_suite
    from ragval_pipeline.suite.rules import load_rules

    rules = {written.rule.code: written for written in load_rules(load_suite(suite_file))}
    if code not in rules and was_found:
        yield "How it was measured", [f"By a rule of the suite that {suite_file} does not have any more."]
        return
    if code not in rules:
        remedy = f"Its rules are: {', '.join(rules)}." if rules else "It has no rules of its own."
        raise SuiteError(f"the suite has no rule {code}", key="explain", remedy=remedy)
    rule = rules[code].rule
    yield "What it says", [f"{rule.message.replace('{count}', 'N')} Severity: {rule.severity}."]
    yield f"How it is measured ({rules[code].file})", rule.sql.rstrip().split("\n")
    yield "Why it happens", [rule.cause]
    yield "How to fix it", [rule.remedy]


def _of_finding(code: str) -> Iterator[_Section]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.findings.graph import can_follow, consequences_of

    row = CATALOGUE[code]
    worse = "" if row.error_share is None else f"; an error from {100 * row.error_share:.0f} % of the points"
    yield "What it says", [f"{row.sentence} Severity: {row.severity}{worse}."]
    yield "How it is measured", [row.measured]
    yield from _lines(code)
    if row.sql:
        yield "Which query finds it", [f"ragval sql last {code} answers it on the last run; the docs show it."]
    yield "Why it happens", [row.cause]
    listed = (
        f"remediation.json of a run lists them under {_LISTS[row.action]}, unless they follow from another finding."
    )
    yield "How to fix it", [row.remedy, listed]
    causes = [other for other in CATALOGUE if other != code and can_follow(code, other)]
    if causes:
        yield "May follow from", [", ".join(causes)]
    if consequences := sorted(consequences_of(code) - {code}):
        yield "May lead to", [", ".join(consequences)]
    yield (
        "How to switch it off",
        [
            f"In the suite file: severity: {{{code}: off}}; error, warning and info change its severity.",
            *([f"Measured by the group {row.group}: ragval run --only {row.group}."] if row.level != "run" else []),
        ],
    )


def _of_criterion(name: str) -> Iterator[_Section]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import DEFAULT_GATES, criterion_of

    criterion = criterion_of(name)
    assert criterion is not None
    yield "What it is", [f"{criterion.means[0].upper()}{criterion.means[1:].rstrip('.')}."]
    gate = "None: it is shown but decides nothing." if criterion.threshold is None else (
        f"{criterion.operator} {criterion.threshold:g}, unless the profile or the suite sets another value."
    )  # fmt: skip
    required = name in DEFAULT_GATES
    yield "Thresholds", [gate, "Required of every run without a profile." if required else "Not required."]
    yield from _lines(name)
    if judged := [row.code for row in CATALOGUE.values() if name in row.criteria]:
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


def _lines(name: str) -> Iterator[_Section]:
    from ragval_pipeline.validation.thresholds import table

    # Thresholds shared by many findings say least about this one.
    rows = sorted((row for row in table() if name in row.codes), key=lambda row: len(row.codes))
    if rows:
        told = [f"{row.value:.4g} ({row.unit}): {row.reason}." for row in rows[:_LINES]]
        rest = f"{len(rows) - _LINES} more, and the evidence for" if len(rows) > _LINES else "The evidence for"
        yield "Thresholds", [*told, f"{rest} each number: see the Thresholds page of the docs."]
