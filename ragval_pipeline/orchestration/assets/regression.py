"""``regression``: this run's answers held against the baseline's, query by query."""

from typing import TYPE_CHECKING

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import ranks_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.reporting.history.folders import KeptRun


def hold_against_baseline(suite: Suite, base: "UPath", manifest: SnapshotManifest, queries: Measurement) -> Measurement:
    """Compare what a resolved suite's queries were answered with what the baseline's were.

    Args:
        suite: The resolved suite.
        base: Where its runs are.
        manifest: This run's snapshot.
        queries: What ``query_validation_results`` measured.

    Raises:
        SuiteError: ``history.baseline`` names no run, or one that cannot be a baseline.
    """
    from ragval_pipeline.reporting.history.baseline import baseline_of
    from ragval_pipeline.reporting.history.reading import HistoryNotReadError
    from ragval_pipeline.validation.regression.measure import no_comparison

    try:
        baseline = baseline_of(base, suite.history.baseline)
        if baseline is None:
            return no_comparison("there is no baseline yet")
        if queries.failure is not None:
            return no_comparison(queries.failure.message, queries.failure.reason_code)
        return _compared(suite, baseline, manifest, queries)
    except HistoryNotReadError as error:
        return no_comparison(str(error), "no_data")


def _compared(suite: Suite, baseline: "KeptRun", manifest: SnapshotManifest, queries: Measurement) -> Measurement:
    from ragval_pipeline.errors import SuiteError
    from ragval_pipeline.reporting.history.earlier import answers_of, corpus_rows, read_report
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.regression.compare import compare_answers
    from ragval_pipeline.validation.regression.measure import measure_regression
    from ragval_pipeline.validation.regression.series import answers_from_sections
    from ragval_pipeline.validation.regression.turnover import COLUMNS, turnover

    report = read_report(baseline)
    if report.verdict == "error":
        raise SuiteError(
            f"{baseline.name} ended in an error, and such a run is never a baseline",
            key="history.baseline",
            remedy="Name a run that is whole.",
        )
    rows = corpus_rows(baseline, COLUMNS)
    comparison = compare_answers(
        answers_of(baseline, report),
        answers_from_sections(queries.sections),
        rank=max(ranks_of(suite)),
        tolerated_drop=suite.history.tolerated_drop,
        turnover=None if rows is None else turnover(rows, Snapshot(manifest).rows(COLUMNS)),
    )
    return measure_regression(comparison, baseline=baseline.name, collection=manifest.facts.name)
