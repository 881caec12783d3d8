"""Threshold does not fit the embedder."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Scores of this index, by which a threshold is judged.

    Attributes:
        rejected: Share of the right answers that the threshold rejects, 0..1.
        admitted: Share of the negative queries that it admits, 0..1.
        right: Quantiles of the scores of right answers; None: there is none.
        negative: Those of negative queries.
    """

    rejected: float
    admitted: float
    right: dict[str, float] | None
    negative: dict[str, float] | None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        right = self.right or {}
        return f"right answers score {right['min']:.2f} to {right['max']:.2f} on this index" if "min" in right else ""


RULE = Rule(
    code="query.threshold_unfit",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="setting",
    action="setting",
    title="Threshold does not fit the embedder",
    means="does not separate right from wrong hits with this embedder",
    many="do not separate right from wrong hits with this embedder",
    measured=(
        "The scores of right hits are compared with those of wrong hits, and the threshold is compared "
        "with both: the suite's, that of most queries, and one that most of at least 5 queries stating it miss."
    ),
    cause="The threshold was taken from another model.",
    remedy="Calibrate the threshold on this index.",
    breaks={Aspect.REACH, Aspect.SELECTION},
    reads={Aspect.SPACE},
    repair="set_threshold",
    explains_queries_only=True,
    to_copy="calibrate",
    details=Details,
)
