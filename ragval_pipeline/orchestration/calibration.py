"""Asking an index for the scores that thresholds are proposed from."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.history.failures import HistoryNotReadError, reading_from
from ragval_pipeline.sources.history.kept_runs import KeptRun
from ragval_pipeline.suite.load import variant_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.calibration.propose import Scores, scores_of
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath

OWN_SCORES = "self_retrieval.json"


@dataclass(frozen=True)
class AskedScores:
    """Scores, and the report of the run that asked for them."""

    scores: Scores
    report: ValidationReport

    @property
    def distance(self) -> str | None:
        """Distance of the collection's vectors; null when it is not known."""
        vectors: list[dict[str, Any]] = self.report.index.get("vectors") or []
        return vectors[0].get("distance") if len(vectors) == 1 else None


def ask_for_scores(suite: Suite, *, log_level: str = "CRITICAL") -> AskedScores:
    """Ask an index the suite's queries and its pages' own titles; nothing of it is kept.

    Args:
        suite: As ``load_suite`` reads it.
        log_level: From which level on Dagster's own log is shown.

    Raises:
        SuiteError: The suite, its queries or the environment are wrong.
    """
    with tempfile.TemporaryDirectory(prefix="ragval-calibrate-") as folder:
        finished = run_suite(variant_of(suite, {"report_uri": folder}), only=["queries"], log_level=log_level)
        return AskedScores(
            scores_of(finished.report.query_results, _own_scores(_path(finished.folder))), finished.report
        )


def kept_scores(run: KeptRun) -> AskedScores:
    """The scores of a kept run.

    Raises:
        SuiteError: It was not asked for queries, so that it has no scores.
        HistoryNotReadError: Its files cannot be read.
    """
    report = read_report(run)
    own = _own_scores(run.folder)
    if report.verdict != "error" and not report.query_results and not own:
        raise SuiteError(
            "has no query results to take scores from",
            key=run.name,
            remedy="Name a run with queries, or leave out --run to ask the index now.",
        )
    return AskedScores(scores_of(report.query_results, own), report)


def _path(folder: str) -> UPath:
    from upath import UPath

    return UPath(Path(folder))


def _own_scores(folder: UPath) -> list[float]:
    """Scores of pages found by their own title; none when the suite names no source or the run is an older one."""
    file = folder / "evidence" / OWN_SCORES
    with reading_from(file):
        content = file.read_bytes() if file.exists() else b"{}"
    try:
        return [float(score) for score in json.loads(content).get("title_scores", ())]
    except (ValueError, AttributeError, TypeError):
        raise HistoryNotReadError(file, "it holds no scores") from None
