"""The scores that thresholds are proposed from: of queries run now, or of a stored run."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.history import HistoryNotReadError, KeptRun, reading_from
from ragval_pipeline.suite.load import variant_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.validation.calibration import Scores, scores_of
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath

OWN_SCORES = "self_retrieval.json"


@dataclass(frozen=True)
class AskedScores:
    """Scores, and the report of their run."""

    scores: Scores
    report: ValidationReport

    @property
    def distance(self) -> str | None:
        """Distance of the collection's vectors; None if unknown."""
        vectors: list[dict[str, Any]] = self.report.index.get("vectors") or []
        return vectors[0].get("distance") if len(vectors) == 1 else None


def ask_for_scores(suite: Suite, *, log_level: str = "CRITICAL") -> AskedScores:
    """Run the suite's queries and the pages' titles against the index; nothing is stored.

    Raises:
        SuiteError: The suite, its queries or the environment are wrong.
    """
    with tempfile.TemporaryDirectory(prefix="ragval-calibrate-") as folder:
        finished = run_suite(variant_of(suite, {"report_uri": folder}), only=["queries"], log_level=log_level)
        return AskedScores(
            scores_of(finished.report.query_results, _own_scores(_path(finished.folder))), finished.report
        )


def kept_scores(run: KeptRun) -> AskedScores:
    """The scores of a stored run.

    Raises:
        SuiteError: It ran no queries and has no scores.
        HistoryNotReadError: Its files cannot be read.
    """
    report = read_report(run)
    own = _own_scores(run.folder)
    if report.verdict != "error" and not report.query_results and not own:
        raise SuiteError(
            "has no query results to take scores from",
            key=run.name,
            remedy="Choose a run with queries, or leave out --run to query the index now.",
        )
    return AskedScores(scores_of(report.query_results, own), report)


def _path(folder: str) -> UPath:
    from upath import UPath

    return UPath(Path(folder))


def _own_scores(folder: UPath) -> list[float]:
    """Scores of pages found by their own title; none without a source, or for older runs."""
    file = folder / "evidence" / OWN_SCORES
    with reading_from(file):
        content = file.read_bytes() if file.exists() else b"{}"
    try:
        return [float(score) for score in parse_json(content).get("title_scores", ())]
    except (ValueError, AttributeError, TypeError):
        raise HistoryNotReadError(file, "it has no scores") from None
