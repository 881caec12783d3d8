"""Chunk id used twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.copies import same_as
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Which points have the id of one in their payload.

    Attributes:
        value: The id.
        others: Their ids in the collection.
    """

    value: Any
    others: Sequence[str]

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        return same_as(self.others, names)


RULE = Rule(
    code="payload.duplicate_id",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="delete",
    title="Chunk id used twice",
    means="has a chunk id that another point has too",
    many="have a chunk id that another point has too",
    measured=(
        "Points are grouped by the id in their payload. Numbers that start again on every page are positions, not ids."
    ),
    cause="Points were copied, or the ingestion makes ids that are not unique.",
    remedy="Make ids unique, review the points under review_point_ids in remediation.json, and delete the copies.",
    reads={Aspect.POSITION, Aspect.COPIES},
    repair="copies",
    keeps_one=True,
    details=Details,
)
