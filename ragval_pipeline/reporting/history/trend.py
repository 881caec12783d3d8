"""The history shown in a run's report, and how many runs are kept."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.reporting.history.baseline import baseline_of, known_baseline, point_of, readable_points
from ragval_pipeline.reporting.history.compare import changes_between
from ragval_pipeline.reporting.history.earlier import Subjects, kept_subjects, read_report
from ragval_pipeline.reporting.history.model import RunChanges, RunHistory, RunPoint
from ragval_pipeline.reporting.outline import groups_of_report
from ragval_pipeline.sources.history import (
    HistoryNotReadError,
    KeptRun,
    remove_surplus,
    runs_before,
)
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath


logger = logging.getLogger(__name__)


def history_of(
    base: UPath, name: str, report: ValidationReport, subjects: Subjects, *, baseline: str | None, limit: int
) -> RunHistory:
    """The stored runs with this one as the last, and changes since the previous one with the same groups.

    Args:
        base: Where the suite's runs are.
        name: Name of this run's folder, which may not exist yet.
        report: This run's report.
        subjects: All subjects of its findings.
        baseline: ``history.baseline``.
        limit: Maximum runs in the trend, including this one.
    """
    own = point_of(name, report)
    try:
        chosen = known_baseline(base, baseline)
        before = runs_before(base, name, report.timestamp)
        earlier = readable_points(before[max(len(before) - limit + 1, 0) :])
        changes = _since_last(base, earlier, report, subjects)
    except RagvalError as error:
        logger.warning("%s", error)
        return RunHistory((own,))
    return RunHistory((*earlier, own), chosen, changes)


def clean_up(base: UPath, name: str, *, baseline: str | None, keep: int) -> None:
    """Remove the oldest runs except ``keep``, after this run's report is written; errors are logged.

    Args:
        base: Where the suite's runs are.
        name: Name of this run's folder.
        baseline: ``history.baseline``.
        keep: ``history.keep_runs``.
    """
    try:
        chosen = {run.name for run in (baseline_of(base, None), baseline_of(base, baseline)) if run is not None}
        removed = remove_surplus(base, keep=keep, spared={name, *chosen})
    except RagvalError as error:  # remove nothing while the baseline is unknown
        logger.warning("no older run was removed: %s", error)
    else:
        if removed:
            logger.info("%s older runs were removed", len(removed))


def _since_last(
    base: UPath, earlier: list[RunPoint], report: ValidationReport, subjects: Subjects
) -> RunChanges | None:
    asked = groups_of_report(report)
    for point in reversed(earlier):
        if point.verdict == "error" or point.groups != asked:
            continue
        run = KeptRun(base / point.name)
        try:
            before = read_report(run)
            return changes_between(point.name, before, report, (kept_subjects(run, before), subjects))
        except HistoryNotReadError as error:  # a folder that was copied in part, or whose files were removed
            logger.warning("%s", error)
    return None
