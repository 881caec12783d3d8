"""``ragval run``: the whole validation of a suite, with progress, its summary or its JSON, and its exit code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragval_pipeline.cli.interrupts import check_interrupted
from ragval_pipeline.cli.options import (
    DEFAULT_SUITE,
    AsJson,
    LogLevel,
    OutputFolder,
    SuiteFile,
    check_output,
    dagster_level,
)
from ragval_pipeline.cli.progress import showing_progress
from ragval_pipeline.cli.terminal import (
    print_bytes,
    printing,
    say,
    stdout_console,
)
from ragval_pipeline.errors import SuiteError, as_sentence
from ragval_pipeline.reporting.files.dataset import FORMATS, DatasetFormat
from ragval_pipeline.rules.check.crashed import RULE as CHECK_CRASHED
from ragval_pipeline.suite.criteria import GROUPS
from ragval_pipeline.text.printing import plural, printable

if TYPE_CHECKING:
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.validation.report import ValidationReport

#: Longer texts are no paths, but questions.
_LONGEST = 1000

OnlyGroups = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="GROUPS",
        autocompletion=lambda incomplete: [name for name in GROUPS if name.startswith(incomplete)],
        help=f"Measure only these groups, comma-separated or repeated: {', '.join(GROUPS)}.",
    ),
]


Dataset = Annotated[
    tuple[str, Path] | None,
    typer.Option(
        "--dataset",
        metavar="FORMAT FILE",
        help=f"Also write questions, contexts and references to a file, as {' or '.join(FORMATS)} reads them.",
    ),
]


OnePartition = Annotated[
    str | None,
    typer.Option("--partition", metavar="KEY", help="The partition to validate, of a suite that has partitions."),
]


MetricsFile = Annotated[
    Path | None,
    typer.Option("--metrics", metavar="FILE", help="Also write the figures to a file, as Prometheus reads them."),
]


Full = Annotated[
    bool,
    typer.Option("--full", help="Compute everything, and read nothing of an earlier run."),
]


def run(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    only: OnlyGroups = None,
    full: Full = False,
    partition: OnePartition = None,
    output: OutputFolder = None,
    dataset: Dataset = None,
    metrics: MetricsFile = None,
    as_json: AsJson = False,
    log_level: LogLevel = None,
) -> int:
    """Validate an index: read it, compare it with its site and its test queries, write a report."""
    from ragval_pipeline.suite.criteria import groups_of
    from ragval_pipeline.suite.load import for_partition, load_suite

    groups = groups_of(only)
    check_output(output)
    loaded = load_suite(suite)
    if partition is not None:
        loaded = for_partition(loaded, partition)
    taken = _files_of(loaded)
    writers: list[Callable[[Run], None]] = []
    if dataset is not None:
        writers.append(partial(_write_dataset, *_checked(dataset, groups, taken)))
        taken |= {dataset[1].resolve()}
    if metrics is not None:
        _check_file(metrics, "--metrics", taken)
        writers.append(partial(_write_metrics, metrics))

    def write(finished: Run) -> None:
        for writer in writers:
            writer(finished)

    return validate_and_show(loaded, only=groups, full=full, output=output, as_json=as_json, afterwards=write)


def _checked(
    dataset: tuple[str, Path], groups: Collection[str] | None, taken: Collection[Path]
) -> tuple[DatasetFormat, Path]:
    """The format and file of a dataset, refused before anything is read."""
    name, file = dataset
    written_as = next((known for known in FORMATS if known == name), None)
    if written_as is None:
        raise SuiteError(
            f"{printable(name)} is no format", key="--dataset", remedy=f"Use {' or '.join(FORMATS)}, then the file."
        )
    if groups is not None and "queries" not in groups:
        raise SuiteError("needs the group queries", key="--dataset", remedy="Add queries to --only.")
    _check_file(file, "--dataset", taken)
    return written_as, file


def _files_of(suite: Suite) -> set[Path]:
    """The suite file, and every file or folder that it may name: what is written must not replace what is read."""

    def named(value: Any) -> Iterator[str | Path]:
        if isinstance(value, str | Path):
            yield value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from named(inner)

    inputs = suite.model_dump(include={"points", "source", "queries", "absent", "traffic", "rules"})
    paths = {suite.folder / each for each in named(inputs) if "://" not in str(each) and len(str(each)) < _LONGEST}
    return {each.resolve() for each in (*paths, *([suite.file] if suite.file else []))}


def _check_file(file: Path, key: str, taken: Collection[Path]) -> None:
    """Refuse a file that cannot be written, before anything is read."""
    if file.is_dir() or not file.absolute().parent.is_dir():
        problem = "is a folder" if file.is_dir() else "is in a folder that does not exist"
        raise SuiteError(f"{printable(str(file))} {problem}", key=key, remedy="Name a file.")
    if file.resolve() in taken:
        problem = "is read by this run, or written twice"
        raise SuiteError(f"{printable(str(file))} {problem}", key=key, remedy="Name another file.")


def _write_dataset(written_as: DatasetFormat, file: Path, finished: Run) -> None:
    from upath import UPath

    from ragval_pipeline.reporting.files.dataset import dataset_bytes
    from ragval_pipeline.sources.storage import write_whole, writing_to

    results = finished.report.query_results
    with writing_to(UPath(file)):
        write_whole(UPath(file), dataset_bytes(results, written_as))
    say(f"{plural(len(results), 'question')} for {written_as}: {file}")


def _write_metrics(file: Path, finished: Run) -> None:
    from upath import UPath

    from ragval_pipeline.reporting.files.metrics import metrics_text
    from ragval_pipeline.reporting.history.runs import last_pass
    from ragval_pipeline.sources.storage import write_whole, writing_to

    with writing_to(UPath(file)):
        write_whole(UPath(file), metrics_text(finished.report, last_pass=last_pass(UPath(finished.folder).parent)))


def validate_and_show(
    suite: Suite,
    *,
    only: Collection[str] | None = None,
    full: bool = False,
    output: str | None = None,
    as_json: bool = False,
    resources: Mapping[str, Any] | None = None,
    afterwards: Callable[[Run], None] | None = None,
) -> int:
    """Validate a suite, show the result, and copy it to ``output``.

    Args:
        suite: As ``load_suite`` reads it.
        only: Groups of measurements; None: all.
        full: Compute everything, and read nothing of an earlier run.
        output: Additional folder for the report's files.
        as_json: Print the report's JSON instead of the summary.
        resources: Replace the suite's own, as for ``build_validation_defs``.
        afterwards: Shows more about the run, below its result.

    Returns:
        The exit code of the verdict.

    Raises:
        RagvalError: The suite is wrong, or the report could not be written.
    """
    finished = run_quietly(suite, only=only, full=full, resources=resources)
    try:
        show_run(finished, as_json=as_json)
        if afterwards is not None:
            afterwards(finished)
        if output is not None:
            from ragval_pipeline.reporting.files.folder import copy_outputs

            copy_outputs(finished.folder, output)
            if not as_json:
                with printing() as printer:
                    printer.line(("Copied to: ", "bold"), (output, ""), wrap=False)
        check_interrupted()
    except KeyboardInterrupt:
        from ragval_pipeline.orchestration.run import withdraw

        withdraw(finished)
        raise
    from ragval_pipeline.validation.verdict import EXIT_CODES

    if line := closing_line(finished.report):
        say(line)
    return EXIT_CODES[finished.report.verdict]


def run_quietly(
    suite: Suite,
    *,
    only: Collection[str] | None = None,
    full: bool = False,
    resources: Mapping[str, Any] | None = None,
) -> Run:
    """Validate a suite with progress but without summary."""
    from ragval_pipeline.measuring.expectations import loading_expectations

    with loading_expectations(only), showing_progress():
        from ragval_pipeline.orchestration.run import run_suite

        return run_suite(suite, only=only, full=full, resources=resources, log_level=dagster_level())


def show_run(run: Run, *, as_json: bool) -> None:
    """Print the summary of a run, or its ``validation_report.json``."""
    from upath import UPath

    from ragval_pipeline.reporting.terminal.summary import render_summary
    from ragval_pipeline.sources.history import REPORT

    if as_json:
        print_bytes((UPath(run.folder) / REPORT).read_bytes())
    else:
        page = f"{_short(run.folder)}/report.html"
        render_summary(run.report, stdout_console(), report_path=page)


def _short(folder: str) -> str:
    """The folder relative to the working directory, if it is inside."""
    here = Path.cwd()
    path = Path(folder)
    return path.relative_to(here).as_posix() if "://" not in folder and path.is_relative_to(here) else folder


def closing_line(report: ValidationReport) -> str:
    """Why the run does not pass, in one line; empty if it passes."""
    from ragval_pipeline.findings.catalogue import CATALOGUE
    from ragval_pipeline.reporting.headline import headline, prevents

    if report.verdict == "pass":
        return ""
    what = "run" if report.verdict == "error" else "measuring"
    cause = next((finding for finding in report.findings if prevents(finding) == what), None)
    if cause is None or (report.verdict == "fail" and not _only_prevented(report)):
        return (report.verdict == "not_measured" and _unmeasured(report)) or headline(report)
    if cause.code == CHECK_CRASHED.code and cause.remedy == CATALOGUE[cause.code].remedy:  # a bug
        return f"{cause.message} --log-level DEBUG shows where."
    return cause.message if cause.remedy.rstrip(".") in cause.message else f"{cause.message} {cause.remedy}"


def _only_prevented(report: ValidationReport) -> bool:
    """Whether the only problem is that the index could not be measured."""
    from ragval_pipeline.reporting.headline import prevents

    errors = [finding for finding in report.findings if finding.severity == "error"]
    failed = [result.name for result in report.criteria if result.required and result.verdict == "not_met"]
    return failed == ["error_findings"] and all(prevents(finding) == "measuring" for finding in errors)


def _unmeasured(report: ValidationReport) -> str:
    """Required criteria without a value, with reasons and what to do; empty if there are none."""
    from ragval_pipeline.sources.site.inventory import NO_SOURCE

    missing = [result for result in report.criteria if result.gate_fails]
    # error_findings would only repeat that the others could not be measured.
    told = [result for result in missing if result.name != "error_findings"] or missing
    if not told:
        return ""
    reasons = dict.fromkeys(result.cause.rstrip(".") for result in told)
    names = ", ".join(result.name for result in told)
    line = as_sentence(f"{report.collection_name}: {names} not measured: {'; '.join(reasons)}")
    of_site = ", ".join(f"{result.name}: null" for result in told if result.cause == NO_SOURCE)
    return f"{line} Set source, or criteria: {{{of_site}}}." if of_site else line
