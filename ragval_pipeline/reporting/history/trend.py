"""Reading the values of criteria over runs: what ``ragval history`` prints and what the report's page plots."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.history.folders import kept_runs
from ragval_pipeline.reporting.history.model import RunHistory, RunPoint
from ragval_pipeline.reporting.history.reading import HistoryNotReadError, reading_from
from ragval_pipeline.reporting.outline import groups_of_report, measured_groups
from ragval_pipeline.reporting.run_files import REPORT
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.reporting.history.folders import KeptRun

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 64 * 1024
#: The report's fields stand in the order of its model: all that a trend needs comes before its findings.
_END_OF_HEAD = b'\n  "findings":'


def read_history(base: UPath, *, baseline: str | None = None, limit: int | None = None) -> RunHistory:
    """The runs below ``base``.

    Args:
        base: Where the suite's runs are.
        baseline: Name of the baseline's folder.
        limit: Runs to read, the newest ones; null: all.

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
    """A run whose report is at hand.

    Args:
        name: Name of its folder.
        report: Its report.
    """
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
    file = run.folder / REPORT
    with reading_from(file):
        content = _head(file)
    try:
        fields: dict[str, Any] = json.loads(content)
        criteria = [CriterionResult.model_validate(entry) for entry in fields["criteria"]]
        known = {name: fields[name] for name in ("run_id", "timestamp", "verdict", "collection_name")}
    except (ValueError, KeyError, TypeError, RecursionError):  # pydantic's ValidationError is a ValueError
        raise HistoryNotReadError(file, "it is no report of this version") from None
    groups = measured_groups(fields.get("groups"), criteria)
    return RunPoint(name=run.name, **known, criteria={result.name: result for result in criteria}, groups=groups)


def _head(file: UPath) -> bytes:
    """The report up to its findings, closed; all of it when it is laid out in another way."""
    content = b""
    with file.open("rb") as opened:
        while more := opened.read(_CHUNK_BYTES):
            content += more
            head, found, _ = content.partition(_END_OF_HEAD)
            if found:
                return head.rstrip().rstrip(b",") + b"\n}"
    return content
