"""``regression``: this run compared with the baseline: its answers query by query, and the criteria of the index."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import ranks_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.sources.history.kept_runs import KeptRun


def compare_with_baseline(
    suite: Suite,
    base: "UPath",
    manifest: SnapshotManifest,
    queries: Measurement,
    of_index: Collection[Measurement],
) -> Measurement:
    """Compare what a resolved suite's run measured with what the baseline's did.

    Args:
        suite: The resolved suite.
        base: Where its runs are.
        manifest: This run's snapshot.
        queries: What ``query_validation_results`` measured.
        of_index: What the assets measured that have criteria of the index itself.

    Raises:
        SuiteError: ``history.baseline`` names no run, or one that cannot be a baseline.
    """
    from ragval_pipeline.reporting.history.baseline import baseline_of
    from ragval_pipeline.sources.history.failures import HistoryNotReadError
    from ragval_pipeline.validation.regression.measure import no_comparison

    try:
        baseline = baseline_of(base, suite.history.baseline)
        if baseline is None:
            return no_comparison("there is no baseline yet")
        return _compared(suite, baseline, manifest, queries, of_index)
    except HistoryNotReadError as error:
        return no_comparison(str(error), "no_data")


def _compared(
    suite: Suite,
    baseline: "KeptRun",
    manifest: SnapshotManifest,
    queries: Measurement,
    of_index: Collection[Measurement],
) -> Measurement:
    from ragval_pipeline.errors import SuiteError
    from ragval_pipeline.reporting.history.earlier import answers_of, read_report
    from ragval_pipeline.sources.history.files import corpus_rows
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.regression.compare import compare_answers
    from ragval_pipeline.validation.regression.index_criteria import measured_values
    from ragval_pipeline.validation.regression.measure import measure_regression, no_comparison
    from ragval_pipeline.validation.regression.series import RunAnswers, answers_from_sections
    from ragval_pipeline.validation.regression.turnover import COLUMNS, turnover

    report = read_report(baseline)
    if report.verdict == "error":
        raise SuiteError(
            f"{baseline.name} ended in an error, and such a run is never a baseline",
            key="history.baseline",
            remedy="Name a run that is whole.",
        )
    rows = corpus_rows(baseline, COLUMNS)
    asked = queries.failure is None
    comparison = compare_answers(
        # What could not be asked is no loss of a query.
        answers_of(baseline, report) if asked else RunAnswers(()),
        answers_from_sections(queries.sections, rank=max(ranks_of(suite))) if asked else RunAnswers(()),
        tolerated_drop=suite.history.tolerated_drop,
        turnover=None if rows is None else turnover(rows, Snapshot(manifest).rows(COLUMNS)),
        criteria=(
            measured_values(report.criteria),
            measured_values(value for entry in of_index for value in entry.values),
        ),
    )
    if queries.failure is not None and report.query_results and not comparison.fallen:
        return no_comparison(queries.failure.message, queries.failure.reason_code)
    return measure_regression(comparison, baseline=baseline.name, collection=manifest.facts.name)
