"""``ragval explain``: what a finding or a criterion means, how it is measured and where the line is."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from ragval_pipeline.cli.options import LogLevel
from ragval_pipeline.cli.terminal import stdout_console, tolerating_closed_pipe
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.nearest import did_you_mean

#: A title, and the paragraphs under it.
_Section = tuple[str, list[str]]


def explain(
    name: Annotated[
        str,
        typer.Argument(metavar="CODE", help="Code of a finding (chunk.too_small) or name of a criterion (coverage)."),
    ],
    log_level: LogLevel = None,
) -> int:
    """Tell what a finding or a criterion means, how it is measured, where the line is, and what to do about it."""
    from ragval_pipeline.reporting.terminal_lines import LinePrinter

    sections = list(_sections(name))
    printer = LinePrinter(stdout_console())
    with tolerating_closed_pipe():
        printer.line((name, "bold"))
        for title, paragraphs in sections:
            printer.line()
            printer.line((title, "bold"))
            for paragraph in paragraphs:
                printer.line((paragraph, ""), indent=2)
    return 0


def _sections(name: str) -> Iterator[_Section]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import is_criterion, known_names

    if name in CATALOGUE:
        yield from _of_finding(name)
    elif is_criterion(name):
        yield from _of_criterion(name)
    else:
        remedy = did_you_mean(name, [*CATALOGUE, *known_names()])
        raise SuiteError(f"nothing is called {name}", key="explain", remedy=remedy)


def _of_finding(code: str) -> Iterator[_Section]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.findings.graph import can_follow, consequences_of

    row = CATALOGUE[code]
    worse = "" if row.error_share is None else f", an error from {row.error_share:.0%} of the points on"
    yield "What it says", [f"The {row.subject_kind} {row.means}. ({row.severity}{worse})"]
    if measured := _measured(code):
        yield "How it is measured", measured
    yield from _lines(code)
    yield "Why it happens", [row.cause]
    yield "What to do", [row.remedy]
    causes = [other for other in CATALOGUE if other != code and can_follow(code, other)]
    if causes:
        yield "May follow from", [", ".join(causes)]
    if consequences := sorted(consequences_of(code) - {code}):
        yield "May lead to", [", ".join(consequences)]
    yield (
        "To be told otherwise",
        [
            f"In the suite file: severity: {{{code}: info}}, or off.",
            *([f"Measured by the group {row.group}: ragval run --only {row.group}."] if row.level != "run" else []),
        ],
    )


def _of_criterion(name: str) -> Iterator[_Section]:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.suite.criteria import all_criteria, rank_of

    rank = rank_of(name)
    criterion = next(entry for entry in all_criteria([rank or 1]) if entry.name == name)
    yield "What it is", [f"{criterion.means[0].upper()}{criterion.means[1:].rstrip('.')}."]
    gate = "none: it is shown and decides nothing" if criterion.threshold is None else (
        f"{criterion.operator} {criterion.threshold:g}, unless profile or suite set another"
    )  # fmt: skip
    yield "Its gate", [gate]
    yield from _lines(name)
    if judged := [row.code for row in CATALOGUE.values() if name in row.judged_by]:
        yield "Findings about the same", [", ".join(judged)]
    yield (
        "To be held to it",
        [f"In the suite file: criteria.required: [{name}] and criteria.gates: {{{name}: ...}}; docs/criteria.md."],
    )


def _measured(code: str) -> list[str]:
    """What the code's detector and its module say of it, paragraph by paragraph."""
    from ragval_pipeline.validation.detectors import registered

    own = next((each for each in registered().values() if code in each.codes), None)
    if own is None:
        return []
    texts = (inspect.getdoc(said) or "" for said in (own.find, sys.modules[own.find.__module__]))
    paragraphs = "\n\n".join(texts).replace("``", "").split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip()]


def _lines(name: str) -> Iterator[_Section]:
    from ragval_pipeline.validation.thresholds import table

    group = name.split(".", maxsplit=1)[0]
    rows = [row for row in table() if name in row.codes or ("." in name and group in row.codes)]
    if rows:
        yield "Where the line is", [f"{row.value:.4g} ({row.unit}): {row.reason}. {row.evidence}." for row in rows]
