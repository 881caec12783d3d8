"""The commands about earlier runs: history, show, compare, bless, report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from ragval_pipeline.cli.options import (
    DEFAULT_SUITE,
    DEMO_HOME,
    LogLevel,
    OutputFolder,
    SuiteFile,
    check_output,
    json_flag,
)
from ragval_pipeline.cli.terminal import print_json, printing, say, stdout_console
from ragval_pipeline.errors import SuiteError

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.reporting.history.compare import RunComparison
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.sources.history import KeptRun
    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.validation.regression.neighbours import KeptNeighbours

DEFAULT_RUNS = 20
_WHICH = "Folder name, run id (or its beginning), last, or baseline."


@dataclass(frozen=True)
class History:
    """A suite and the location of its runs."""

    suite: Suite
    base: UPath

    def run(self, name: str) -> KeptRun:
        """The run with the given name.

        Raises:
            SuiteError: There is no such run, or the name is ambiguous.
        """
        from ragval_pipeline.reporting.history.runs import named_run

        return named_run(self.base, name, baseline=self.suite.history.baseline)


def open_history(suite_file: Path) -> History:
    """The history of a file's suite.

    Raises:
        SuiteError: The suite is wrong, or the location of its reports is unknown.
    """
    from ragval_pipeline.suite.load import check_partition, load_suite

    suite = load_suite(suite_file)
    check_partition(suite)
    return _history_of(suite)


def _history_of(suite: Suite) -> History:
    """The history of a suite, and the folder above those of its partitions when none is chosen."""
    from ragval_pipeline.sources.history import history_folder
    from ragval_pipeline.suite.interpolation import is_unread
    from ragval_pipeline.suite.load import resolve_suite

    try:
        suite = resolve_suite(suite)
    except SuiteError:
        # Stored runs can be read without the embedder's key; only their location is needed.
        if is_unread(suite.report_uri) or is_unread(suite._origin.written.get("suite") if suite._origin else None):
            raise
    return History(suite, history_folder(suite.report_uri, suite.place))


def kept_run(name: str, suite_file: Path) -> Run:
    """The stored run of a folder, or with a name as for ``History.run``.

    Raises:
        SuiteError: There is no such run, or the suite is wrong.
        HistoryNotReadError: The run cannot be read.
    """
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.sources.history import REPORT

    if "://" in name or (Path(name) / REPORT).is_file():
        return Run.read(name)
    if not suite_file.exists() and (demo := DEMO_HOME / "ragval.yaml").is_file():
        raise SuiteError("there is no such suite file", file=suite_file, remedy=f"The demo's is -s {demo}.")
    return Run.read(str(open_history(suite_file).run(name).folder))


def history(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    limit: Annotated[
        int, typer.Option("--limit", metavar="RUNS", min=1, help="Number of runs to show, newest first.")
    ] = DEFAULT_RUNS,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write a page about all suites of the report folder, with links to reports."
        ),
    ] = None,
    as_json: Annotated[bool, json_flag("the runs as JSON")] = False,
    log_level: LogLevel = None,
) -> int:
    """List the earlier runs of a suite and how each criterion changed over them."""
    from ragval_pipeline.reporting.history.runs import known_baseline, read_history
    from ragval_pipeline.reporting.terminal.runs import history_json, render_history
    from ragval_pipeline.sources.history import kept_runs

    if html is not None:
        _write_page(suite, html, limit)
        return 0
    kept = open_history(suite)
    total = len(kept_runs(kept.base))
    chosen = known_baseline(kept.base, kept.suite.history.baseline) if total else None
    runs = read_history(kept.base, baseline=chosen, limit=limit)
    if as_json:
        print_json(history_json(runs, kept.suite.suite))
        return 0
    with printing() as printer:
        if total:
            render_history(runs, printer, total=total)
        else:
            printer.line((f"{kept.base} holds no runs yet.", ""))
    return 0


def _check_page(file: Path) -> None:
    if file.is_dir() or not file.absolute().parent.is_dir():
        problem = "is a folder" if file.is_dir() else "is in a folder that does not exist"
        raise SuiteError(f"{file} {problem}", key="--html", remedy="Name a file.")


def _write_page(suite_file: Path, file: Path, limit: int) -> None:
    from upath import UPath

    from ragval_pipeline.reporting.history.runs import known_baseline, read_history
    from ragval_pipeline.reporting.html.history import history_page
    from ragval_pipeline.sources.history import history_folder, kept_histories
    from ragval_pipeline.sources.storage import local_path, write_whole, writing_to
    from ragval_pipeline.suite.load import load_suite
    from ragval_pipeline.text.printing import plural

    _check_page(file)
    kept = _history_of(load_suite(suite_file))
    place = history_folder(kept.suite.report_uri, kept.suite.suite).parent
    suites = {}
    for name, base in kept_histories(place):
        wanted = kept.suite.history.baseline if base == kept.base else None
        suites[name] = read_history(base, baseline=known_baseline(base, wanted), limit=limit)
    if not suites:
        raise SuiteError(f"{place} holds no runs yet", key="--html", remedy="Validate an index first: ragval run.")

    def link_to(suite: str, run: str) -> str:
        report, local = place / suite / run / "report.html", local_path(place)
        if local is None:
            return str(report)
        return quote(
            Path(os.path.relpath(local.absolute() / suite / run / "report.html", file.absolute().parent)).as_posix()
        )

    with writing_to(UPath(file)):
        write_whole(UPath(file), history_page(suites, place=str(place), link_to=link_to))
    with printing() as printer:
        printer.line((f"Wrote {file}: {plural(len(suites), 'suite')}", ""), wrap=False)


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help=f"{_WHICH} Or the folder of a run.")] = "last",
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    as_json: Annotated[bool, json_flag("the run's validation_report.json")] = False,
    log_level: LogLevel = None,
) -> int:
    """Show the summary of an earlier run again, without measuring anything."""
    from ragval_pipeline.cli.run import show_run

    show_run(kept_run(run, suite), as_json=as_json)
    return 0


def compare(
    before: Annotated[str, typer.Argument(metavar="A", help=_WHICH)] = "baseline",
    after: Annotated[str, typer.Argument(metavar="B", help=_WHICH)] = "last",
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    other: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="COLLECTION|FILE",
            help="Instead of two runs: validate the suite's index and this collection, or file of points, of the same "
            "site, and compare them before a cut-over.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the comparison as a page, too.")
    ] = None,
    as_json: Annotated[bool, json_flag("the comparison as JSON")] = False,
    log_level: LogLevel = None,
) -> int:
    """Compare two runs, or two indexes of one site: criteria, metrics, queries, pages. Exits with 1 on a regression."""
    if html is not None:
        _check_page(html)
    if other is not None:
        return _compare_indexes(suite, other, (before, after), html=html, as_json=as_json)
    from ragval_pipeline.reporting.history.compare import compare_runs, comparison_json
    from ragval_pipeline.reporting.terminal.runs import render_comparison

    kept = open_history(suite)
    first, second = kept.run(before), kept.run(after)
    if first.name == second.name:
        say(f"{before} and {after} are the same run, {first.name}: it is compared with itself.")
    comparison = compare_runs(first, second, tolerated_drop=kept.suite.history.tolerated_drop)
    if html is not None:
        _write_comparison(html, comparison)
    if as_json:
        print_json(comparison_json(comparison))
    else:
        render_comparison(comparison, stdout_console())
    return comparison.exit_code


def _write_comparison(file: Path, comparison: RunComparison, neighbours: KeptNeighbours | None = None) -> None:
    from upath import UPath

    from ragval_pipeline.reporting.html.comparison import comparison_page
    from ragval_pipeline.sources.storage import write_whole, writing_to

    with writing_to(UPath(file)):
        write_whole(UPath(file), comparison_page(comparison, neighbours))
    say(f"Wrote {file}")


def _compare_indexes(suite: Path, other: str, runs: tuple[str, str], *, html: Path | None, as_json: bool) -> int:
    from ragval_pipeline.orchestration.cutover import compare_with
    from ragval_pipeline.reporting.terminal.cutover import cutover_json, render_cutover
    from ragval_pipeline.suite.load import load_suite

    if runs != ("baseline", "last"):
        raise SuiteError("--with compares two indexes, not runs", key="compare", remedy="Leave out A and B.")
    loaded, is_file = load_suite(suite), other.endswith(".parquet") or Path(other).exists()
    if loaded.points is not None and not is_file:
        raise SuiteError(
            f"there is no file {other}, and the suite names no Qdrant to look for a collection in",
            key="--with",
            remedy="Name a file of points, or use a suite of the collection and name the file.",
        )
    # A path on the command line starts where the command does, not at the suite file.
    place = other if "://" in other else str(Path(other).absolute())
    cutover = compare_with(loaded, {"points": place} if is_file else {"qdrant": {"collection": other}})
    if html is not None:
        _write_comparison(html, cutover.comparison, cutover.neighbours)
    if as_json:
        print_json(cutover_json(cutover))
    else:
        render_cutover(cutover, stdout_console())
    return cutover.exit_code


def bless(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder name, run id (or its beginning), or last.")],
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    log_level: LogLevel = None,
) -> int:
    """Make a run the baseline that later runs are compared with (criterion no_regression)."""
    from ragval_pipeline.reporting.history.runs import bless as set_baseline
    from ragval_pipeline.sources.history import find_run

    kept = open_history(suite)
    chosen = find_run(kept.base, run)
    verdict = set_baseline(kept.base, chosen, datetime.now(UTC))
    if kept.suite.history.baseline is not None:
        say(
            f"history.baseline of {suite} is {kept.suite.history.baseline}, which takes precedence over the blessed "
            "run."
        )
    elif verdict != "pass":
        say(f"{chosen.name} did not pass (verdict {verdict}); later runs are compared with it anyway.")
    with printing() as printer:
        printer.line((f"{kept.suite.suite}: the baseline is now {chosen.name}", ""))
    return 0


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help=_WHICH)] = "last",
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    output: OutputFolder = None,
    log_level: LogLevel = None,
) -> int:
    """Render report.html, summary.md, junit.xml and query_results.csv of an earlier run again."""
    from ragval_pipeline.measuring.report import settings_without_secrets
    from ragval_pipeline.reporting.files.folder import render_again
    from ragval_pipeline.suite.absent import load_absent

    check_output(output)
    kept = open_history(suite)
    past = kept.suite.history
    files = render_again(
        kept.run(run),
        settings=settings_without_secrets(kept.suite),
        baseline=past.baseline,
        limit=past.keep_runs,
        into=output,
        absent=load_absent(kept.suite),
    )
    with printing() as printer:
        for file in files:
            printer.line((file, ""), wrap=False)
    return 0
