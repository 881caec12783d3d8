"""The history as one run's report shows it, and the clean-up that follows the report."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.reporting.history.baseline import baseline_of
from ragval_pipeline.reporting.history.compare import changes_between
from ragval_pipeline.reporting.history.earlier import Subjects, kept_subjects, read_report
from ragval_pipeline.reporting.history.model import RunChanges, RunHistory, RunPoint
from ragval_pipeline.reporting.history.trend import point_of, read_history
from ragval_pipeline.reporting.outline import groups_of_report
from ragval_pipeline.sources.history import KeptRun, remove_surplus
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath

logger = logging.getLogger(__name__)


def history_of(
    base: UPath, name: str, report: ValidationReport, subjects: Subjects, *, baseline: str | None, limit: int
) -> RunHistory:
    """The runs kept so far with this one as the last, and what changed since the one before of the same groups.

    Args:
        base: Where the suite's runs are.
        name: Name of this run's folder, which need not be there yet.
        report: This run's report.
        subjects: All subjects of its findings.
        baseline: ``history.baseline``.
        limit: Runs in the trend at most, this one included.
    """
    own = point_of(name, report)
    try:
        chosen = baseline_of(base, baseline)
        kept = read_history(base, limit=limit)
        earlier = [point for point in kept.runs if point.name < name][-(limit - 1) :] if limit > 1 else []
        changes = _since_last(base, earlier, report, subjects)
    except RagvalError as error:  # said by the asset that compares with the baseline, where it matters
        logger.warning("%s", error)
        return RunHistory((own,))
    return RunHistory((*earlier, own), chosen.name if chosen else None, changes)


def clean_up(base: UPath, name: str, *, baseline: str | None, keep: int) -> None:
    """Remove the oldest runs but ``keep``, after this run's report is written; what goes wrong is logged.

    Args:
        base: Where the suite's runs are.
        name: Name of this run's folder.
        baseline: ``history.baseline``.
        keep: ``history.keep_runs``.
    """
    try:
        chosen = {run.name for run in (baseline_of(base, None), baseline_of(base, baseline)) if run is not None}
        removed = remove_surplus(base, keep=keep, spared={name, *chosen})
    except RagvalError as error:  # nothing is removed while it is not known which run is the baseline
        logger.warning("no older run was removed: %s", error)
    else:
        if removed:
            logger.info("%s older runs were removed", len(removed))


def _since_last(
    base: UPath, earlier: list[RunPoint], report: ValidationReport, subjects: Subjects
) -> RunChanges | None:
    asked = groups_of_report(report)
    alike = (point for point in reversed(earlier) if point.verdict != "error" and point.groups == asked)
    last = next(alike, None)
    if last is None:
        return None
    run = KeptRun(base / last.name)
    before = read_report(run)
    return changes_between(last.name, before, report, (kept_subjects(run, before), subjects))
