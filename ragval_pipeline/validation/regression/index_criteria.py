"""Criteria of the index itself in two runs: shares of its pages, points and letters, which need no query.

They are counts over the index and the site, so that no chance has to be told apart: a drop beyond the tolerated one is
a regression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ragval_pipeline.validation.measurement import MeasuredValue
from ragval_pipeline.validation.verdict import TOLERANCE, CriterionResult

INDEX_CRITERIA = (
    "coverage", "source_captured", "content_integrity", "metadata_completeness", "embedding_match", "self_retrieval",
)  # fmt: skip

#: Value of each measured criterion by its name.
Values: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class IndexChange:
    """One criterion of the index in two runs.

    Attributes:
        name: The criterion.
        before: Its value then, 0..1.
        after: Its value now.
        fell: Whether it fell by more than the tolerated drop.
    """

    name: str
    before: float
    after: float
    fell: bool


def measured_values(results: Iterable[CriterionResult | MeasuredValue]) -> dict[str, float]:
    """The values of those criteria of the index that were measured."""
    return {entry.name: entry.value for entry in results if entry.name in INDEX_CRITERIA and entry.value is not None}


def index_changes(before: Values, after: Values, *, tolerated_drop: float) -> list[IndexChange]:
    """The criteria of the index that both runs measured, in a fixed order."""
    return [
        IndexChange(name, before[name], after[name], before[name] - after[name] > tolerated_drop + TOLERANCE)
        for name in INDEX_CRITERIA
        if name in before and name in after
    ]
