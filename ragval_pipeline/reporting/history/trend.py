"""Reading the values of criteria over runs: what ``ragval history`` prints and what the report's page plots."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.history.model import RunHistory, RunPoint
from ragval_pipeline.reporting.outline import groups_of_report, measured_groups
from ragval_pipeline.sources.history import REPORT, HistoryNotReadError, head_of_report, kept_runs
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.sources.history import KeptRun

logger = logging.getLogger(__name__)


def read_history(base: UPath, *, baseline: str | None = None, limit: int | None = None) -> RunHistory:
    """The runs below ``base``.

    Args:
        base: Where the suite's runs are.
        baseline: Name of the baseline's folder.
        limit: Runs to read, the newest ones; None: all.

    Returns:
        Those that can be read; a report that cannot is left out, with a warning in the log.

    Raises:
        HistoryNotReadError: The folder itself cannot be read.
    """
    runs = kept_runs(base)
    chosen = runs if limit is None else runs[max(len(runs) - limit, 0) :]
    points = []
    for run in chosen:
        try:
            points.append(read_point(run))
        except HistoryNotReadError as error:
            logger.warning("%s", error)
    return RunHistory(tuple(points), baseline)


def point_of(name: str, report: ValidationReport) -> RunPoint:
    """A run whose report is at hand."""
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
    """One kept run, without its queries and findings.

    Raises:
        HistoryNotReadError: Its report cannot be read.
    """
    content = head_of_report(run)
    try:
        fields: dict[str, Any] = json.loads(content)
        criteria = [CriterionResult.model_validate(entry) for entry in fields["criteria"]]
        known = {name: fields[name] for name in ("run_id", "timestamp", "verdict", "collection_name")}
    except (ValueError, KeyError, TypeError, RecursionError):  # pydantic's ValidationError is a ValueError
        raise HistoryNotReadError(run.folder / REPORT, "it is no report of this version") from None
    groups = measured_groups(fields.get("groups"), criteria)
    return RunPoint(name=run.name, **known, criteria={result.name: result for result in criteria}, groups=groups)
