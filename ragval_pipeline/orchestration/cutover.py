"""Two indexes of one site, compared before one replaces the other."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.history.compare import RunComparison, compare_runs
from ragval_pipeline.sources.history import KeptRun, corpus_rows
from ragval_pipeline.sources.storage import open_folder
from ragval_pipeline.sources.stores.opening import opened_reader
from ragval_pipeline.suite.load import resolve_suite, variant_of
from ragval_pipeline.suite.model import Suite, points_name
from ragval_pipeline.validation.regression.neighbours import KeptNeighbours, kept_neighbours, page_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.reporting.run import Run

#: Pages named that kept fewest neighbours.
_NAMED = 10


class IndexNotReadError(RagvalError):
    """One of two indexes could not be validated, because an outside system failed."""

    exit_code = 3


@dataclass(frozen=True)
class Cutover:
    """The index in use and the one that may replace it.

    Attributes:
        comparison: Criteria, findings, pages and queries side by side, as between two runs.
        neighbours: How many of its nearest pages each page keeps.
    """

    comparison: RunComparison
    neighbours: KeptNeighbours

    @property
    def exit_code(self) -> int:
        """1 if quality fell or pages are lost; 4 if it is unknown because questions could not be compared; else 0."""
        return 1 if self.comparison.changes.pages_missing else self.comparison.exit_code


def compare_with(suite: Suite, changes: Mapping[str, Any]) -> Cutover:
    """Validate the suite's index and another one of the same site, and compare them.

    Both validations leave nothing in the suite's history.

    Args:
        suite: The suite of the index in use.
        changes: Keys of the suite that lead to the other index.

    Raises:
        SuiteError: The suite is wrong, as with ``validate``.
        IndexNotReadError: An outside system failed while an index was validated.
        SystemFailure: A vector could not be read.
    """
    with tempfile.TemporaryDirectory(prefix="ragval-compare-") as folder:
        quiet = {"report_uri": folder, "latency": "off", "history": {"baseline": None}}
        suites = [variant_of(suite, {**quiet, **more}) for more in ({}, changes)]
        # The other one first: it is the one that may not be there.
        kept = [_kept(run_suite(each)) for each in reversed(suites)][::-1]
        names = (_name(suites[0]), _name(suites[1]))
        vectors = [_page_vectors(each, run) for each, run in zip(suites, kept, strict=True)]
        return Cutover(
            compare_runs(kept[0], kept[1], tolerated_drop=suite.history.tolerated_drop, names=names),
            kept_neighbours(vectors[0], vectors[1], most=_NAMED),
        )


def _name(suite: Suite) -> str:
    return suite.qdrant.collection if suite.points is None else points_name(suite.points)


def _kept(run: Run) -> KeptRun:
    if run.report.verdict == "error":
        reason = next((finding.message for finding in run.report.findings), "an outside system failed")
        raise IndexNotReadError(f"{run.report.collection_name}: not compared: {reason}")
    return KeptRun(open_folder(run.folder))


def _page_vectors(suite: Suite, run: KeptRun) -> dict[str, NDArray[np.float64]]:
    rows = corpus_rows(run, ["point_id", "page_key"]) or ()
    page_of = {row["point_id"]: row["page_key"] for row in rows if row["page_key"] is not None}
    settings = resolve_suite(suite).qdrant
    with opened_reader(settings, policy=suite.retry) as reader:
        return page_vectors(((batch.ids, batch.matrix) for batch in reader.vectors()), page_of)
