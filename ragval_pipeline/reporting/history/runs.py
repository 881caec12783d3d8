"""The stored runs of a suite: their trend, which of them are kept, and the baseline that a person chose."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import RagvalError, SuiteError
from ragval_pipeline.reporting.history.compare import changes_between
from ragval_pipeline.reporting.history.earlier import Subjects, kept_subjects, read_report, whole_answers_of
from ragval_pipeline.reporting.history.model import RunChanges, RunHistory, RunPoint
from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.reporting.outline import groups_of_report, measured_groups
from ragval_pipeline.sources.history import (
    BASELINE,
    BASELINE_FILE,
    LAST,
    REPORT,
    HistoryNotReadError,
    KeptRun,
    blessed_run,
    find_run,
    head_of_report,
    kept_runs,
    remove_surplus,
    runs_before,
)
from ragval_pipeline.sources.storage import write_whole, writing_to
from ragval_pipeline.suite.criteria import GROUPS
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import utc_text
from ragval_pipeline.validation.regression.compare import measured_values
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult, RunVerdict

if TYPE_CHECKING:
    from upath import UPath


logger = logging.getLogger(__name__)


def read_history(base: UPath, *, baseline: str | None = None, limit: int | None = None) -> RunHistory:
    """The runs in ``base``.

    Args:
        base: Where the suite's runs are.
        baseline: Name of the baseline's folder.
        limit: Runs to read, the newest ones; None: all.

    Returns:
        The readable runs; unreadable reports are left out with a warning in the log.

    Raises:
        HistoryNotReadError: The folder itself cannot be read.
    """
    runs = kept_runs(base)
    chosen = runs if limit is None else runs[max(len(runs) - limit, 0) :]
    return RunHistory(tuple(readable_points(chosen)), baseline)


def readable_points(runs: Iterable[KeptRun]) -> list[RunPoint]:
    """The runs whose reports can be read; others are left out with a warning in the log."""
    points = []
    for run in runs:
        try:
            points.append(read_point(run))
        except HistoryNotReadError as error:
            logger.warning("%s", error)
    return points


def last_pass(base: UPath) -> str | None:
    """Timestamp of the last run that passed and left out no group of measurements; None if no kept run did."""
    for run in reversed(kept_runs(base)):
        for point in readable_points([run]):
            if point.verdict == "pass" and point.groups >= frozenset(GROUPS):
                return point.timestamp
    return None


def point_of(name: str, report: ValidationReport) -> RunPoint:
    """The point of a report."""
    return RunPoint(
        name=name,
        run_id=report.run_id,
        timestamp=report.timestamp,
        verdict=report.verdict,
        collection_name=report.collection_name,
        criteria={result.name: result for result in report.criteria},
        groups=groups_of_report(report),
    )


def read_point(run: KeptRun) -> RunPoint:
    """One stored run, without its queries and findings.

    Raises:
        HistoryNotReadError: Its report cannot be read.
    """
    content = head_of_report(run)
    try:
        fields: dict[str, Any] = parse_json(content)
        criteria = [CriterionResult.model_validate(entry) for entry in fields["criteria"]]
        known = {name: fields[name] for name in ("run_id", "timestamp", "verdict", "collection_name")}
    except (ValueError, KeyError, TypeError):  # pydantic's ValidationError is a ValueError
        raise HistoryNotReadError(run.folder / REPORT, "it is not a report of this version") from None
    groups = measured_groups(fields.get("groups"), criteria)
    return RunPoint(name=run.name, **known, criteria={result.name: result for result in criteria}, groups=groups)


def bless(base: UPath, run: KeptRun, now: datetime) -> RunVerdict:
    """Make a run the baseline of its suite.

    Args:
        base: Where the suite's runs are.
        run: The run.
        now: Current time, aware.

    Returns:
        The verdict of the run.

    Raises:
        SuiteError: The run ended in an error, or has neither query results nor criteria of the index: nothing could
            be compared with it.
        ReportNotWrittenError: The filesystem refuses; the baseline is unchanged.
    """
    report = read_report(run)
    if report.verdict == "error":
        raise SuiteError("ended in an error, so it cannot be a baseline", key=run.name, remedy="Bless a complete run.")
    if not measured_values(report.criteria) and not any(query.passed is not None for query in report.query_results):
        raise SuiteError(
            "has no query results and no index criteria to compare with",
            key=run.name,
            remedy="Bless a run that measured them.",
        )
    content = json_bytes({"run": run.name, "run_id": report.run_id, "blessed_at": utc_text(now)})
    file = base / BASELINE_FILE
    with writing_to(file):
        write_whole(file, content, sync=True)
    return report.verdict


def baseline_of(base: UPath, wanted: str | None) -> KeptRun | None:
    """The baseline of a suite: the run that it names, else the blessed one; None if there is neither.

    Args:
        base: Where the suite's runs are.
        wanted: ``history.baseline``. ``last`` is the newest run that can be read, has query results and did not end in
            an error, if there is one.

    Raises:
        SuiteError: The named run does not exist (any more), or ended in an error.
        HistoryNotReadError: The filesystem refuses.
    """
    if wanted == LAST:
        return last_answered(base)
    if wanted is None:
        return None if blessed_run(base) is None else find_run(base, BASELINE)
    run = find_run(base, wanted)
    if read_point(run).verdict == "error":
        raise SuiteError("ended in an error, so it cannot be a baseline", key=run.name, remedy="Choose a complete run.")
    return run


def known_baseline(base: UPath, wanted: str | None) -> str | None:
    """Name of the baseline's folder, to be shown beside the runs; None, with a warning in the log, if it is broken."""
    try:
        run = baseline_of(base, wanted)
    except RagvalError as error:  # reported by the asset that compares with it
        logger.warning("%s", error)
        return None
    return run.name if run else None


def named_run(base: UPath, wanted: str, *, baseline: str | None) -> KeptRun:
    """The run with the given name; ``baseline`` is the suite's baseline.

    Raises:
        SuiteError: There is no such run.
        HistoryNotReadError: The filesystem refuses.
    """
    if wanted != BASELINE or baseline is None:
        return find_run(base, wanted)
    if baseline != LAST:
        return find_run(base, baseline)
    # From the newest run, the last one is the previous one.
    before = last_answered(base, besides=1)
    if before is None:
        raise SuiteError("there is no earlier run to compare with", key=wanted, remedy="Name two runs.")
    return before


def last_answered(base: UPath, *, besides: int = 0) -> KeptRun | None:
    """The newest readable run with query results that did not end in an error; None if there is none.

    Args:
        base: Where the suite's runs are.
        besides: How many of the newest runs to skip.

    Raises:
        HistoryNotReadError: The filesystem refuses.
    """
    runs = kept_runs(base)
    return next((run for run in reversed(runs[: len(runs) - besides]) if _is_comparable(run)), None)


def _is_comparable(run: KeptRun) -> bool:
    try:
        if read_point(run).verdict == "error":
            return False
        report = read_report(run)
        whole_answers_of(run, report)
    except HistoryNotReadError as error:  # without this, one damaged run would stop all later ones
        logger.warning("%s", error)
        return False
    return any(query.passed is not None for query in report.query_results)


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
        limit: Maximum runs, including this one.
    """
    point = point_of(name, report)
    try:
        chosen = known_baseline(base, baseline)
        before = runs_before(base, name, report.timestamp)
        earlier = readable_points(before[max(len(before) - limit + 1, 0) :])
        changes = _since_last(base, earlier, report, subjects)
    except RagvalError as error:
        logger.warning("%s", error)
        return RunHistory((point,))
    return RunHistory((*earlier, point), chosen, changes)


def clean_up(base: UPath, name: str, *, baseline: str | None, keep: int) -> None:
    """Remove the oldest runs but ``keep``, the baseline and this run, whose report is written; errors are logged."""
    try:
        chosen = {run.name for run in (baseline_of(base, None), baseline_of(base, baseline)) if run is not None}
        removed = remove_surplus(base, keep=keep, spared={name, *chosen})
    except RagvalError as error:  # remove nothing while the baseline is unknown
        logger.warning("no older run was removed: %s", error)
    else:
        if removed:
            logger.info("removed %s", plural(len(removed), "older run"))


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
