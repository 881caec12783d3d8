"""``ragval demo``: a whole validation of the bundled index, for a first look and for planting defects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from ragval_pipeline.cli.options import DEMO_HOME, AsJson, LogLevel, OutputFolder, check_output
from ragval_pipeline.cli.terminal import printing, stderr_console, stdout_console

if TYPE_CHECKING:
    from rich.console import Console

    from ragval_pipeline.demo.workspace import DemoHome
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.testing.defects import Outcome, Planted, PlantedDemo

#: Maximum subjects shown.
_SHOWN = 5


def _defects(incomplete: str) -> list[str]:
    from ragval_pipeline.findings.catalogue import CATALOGUE

    return [code for code in CATALOGUE if code.startswith(incomplete)]


def demo(
    *,
    break_: Annotated[
        list[str] | None,
        typer.Option(
            "--break",
            metavar="CODE",
            autocompletion=_defects,
            help="Plant this defect in the demo's index or site first; may be repeated.",
        ),
    ] = None,
    list_defects: Annotated[bool, typer.Option("--list-defects", help="List the defects that can be planted.")] = False,
    output: OutputFolder = None,
    as_json: AsJson = False,
    log_level: LogLevel = None,
) -> int:
    """Build the bundled site's index offline and validate it; no key, no network, nothing to set up."""
    if list_defects:
        return _list_defects()
    check_output(output)
    codes = tuple(dict.fromkeys(break_ or ()))
    if codes:
        from ragval_pipeline.testing.defects import find_defect

        for code in codes:
            find_defect(code)
    from ragval_pipeline.measuring.expectations import loading_expectations

    with loading_expectations():
        return _build_and_validate(codes, output=output, as_json=as_json)


def _build_and_validate(codes: Sequence[str], *, output: str | None, as_json: bool) -> int:
    from ragval_pipeline.cli.run import run_quietly, validate_and_show
    from ragval_pipeline.suite.load import load_suite

    built = _build()
    spoilt = None
    if codes:
        from ragval_pipeline.testing.defects import find_defect, plant_in_demo

        if any(find_defect(code).needs_baseline for code in codes):
            run_quietly(load_suite(built.suite_file))
        spoilt = plant_in_demo(built, *codes)
    # What was planted is not part of the report: with --json it goes to stderr like progress.
    console = stderr_console() if as_json else stdout_console()
    if spoilt is not None:
        show_planted(spoilt, console)
    exit_code = validate_and_show(
        load_suite(built.suite_file),
        output=output,
        as_json=as_json,
        resources=None if spoilt is None else spoilt.resources,
        afterwards=None if spoilt is None else partial(show_outcome, spoilt.planted, console=console),
    )
    if exit_code == 0 and not codes and not as_json:
        _next_steps()
    return exit_code


def _build() -> DemoHome:
    from ragval_pipeline.demo.workspace import build_demo

    parents = [part for part in DEMO_HOME.absolute().parents if not part.exists()]
    try:
        with stderr_console().status("Building the demo's index"):
            return build_demo(DEMO_HOME)
    except BaseException:
        for part in parents:  # an interrupted first build leaves nothing behind
            if part.is_dir() and not any(part.iterdir()):
                part.rmdir()
        raise


def _list_defects() -> int:
    from ragval_pipeline.testing.defects import defects as all_defects

    defects = all_defects().values()
    width = max(len(defect.name) for defect in defects)
    with printing() as printer:
        for defect in defects:
            printer.line((defect.describe, ""), lead=f"{defect.name:{width}}  ")
        printer.line()
        printer.line(("Plant one with ragval demo --break CODE, a variant with CODE:VARIANT.", "dim"))
    return 0


def _next_steps() -> None:
    with printing() as printer:
        printer.line()
        printer.line(("ragval demo --break coverage.missing_page", "bold"), ("   see a defect found", "dim"), indent=2)
        printer.line(("ragval init --help", "bold"), ("   write a suite for your own index", "dim"), indent=2)


def show_planted(spoilt: PlantedDemo, console: Console) -> None:
    """What was done to the demo, and what a run must report because of it."""
    from ragval_pipeline.reporting.terminal.lines import LinePrinter

    printer = LinePrinter(console)
    for defect, planted in zip(spoilt.defects, spoilt.planted, strict=True):
        printer.line((f"Planted {_name(planted)}: ", "bold"), (defect.describe, ""))
        printer.line((f"{_count(planted)}: {_listed(planted.subjects)}", ""), indent=2)


def show_outcome(planted: Sequence[Planted], finished: Run, *, console: Console) -> None:
    """Whether the run reported each planted defect with exactly its subjects."""
    from ragval_pipeline.reporting.terminal.lines import SIGNS, STYLES, LinePrinter
    from ragval_pipeline.testing.defects import judge

    printer = LinePrinter(console)
    printer.line()
    for outcome in judge(planted, finished.report, folder=finished.folder):
        looks = "pass" if outcome.recall == outcome.precision == 1.0 else "fail"
        printer.line((f"{SIGNS[looks]} Planted {_name(outcome.planted)}: ", STYLES[looks]), (_reported(outcome), ""))


def _reported(outcome: Outcome) -> str:
    from ragval_pipeline.text.printing import plural

    planted = _count(outcome.planted)
    if outcome.recall == outcome.precision == 1.0:
        return f"reported with exactly the planted {planted}."
    if outcome.place is None:
        return "not reported."
    hit = round(outcome.recall * len(outcome.planted.subjects))
    return f"reported for {hit} of the planted {planted} and for {plural(outcome.named - hit, 'other')}."


def _name(planted: Planted) -> str:
    return planted.code if planted.scope is None else f"{planted.code} ({planted.scope})"


def _count(planted: Planted) -> str:
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.text.printing import plural

    return plural(len(planted.subjects), CATALOGUE[planted.code].subject_kind)


def _listed(subjects: Iterable[str]) -> str:
    names = sorted(subjects)
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
