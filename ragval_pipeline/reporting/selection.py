"""Which groups of measurements a run was asked for: a partial run (``--only``) is no verdict on the whole index.

What lives here: reading it from a report. What does not: selecting (``orchestration``) and showing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragval_pipeline.suite.criteria import GROUPS, group_of
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult


def measured_groups(groups: Sequence[str] | None, criteria: Iterable[CriterionResult]) -> frozenset[str]:
    """The groups that a run was asked for.

    Args:
        groups: As its report says; null: all, or the report of an earlier version, which did not say.
        criteria: Its criteria. Those of such an earlier report tell its groups, but for one without criteria (chunks).
    """
    if groups is not None:
        return frozenset(groups)
    known = list(criteria)
    if not any(_is_unselected(result) for result in known):
        return frozenset(GROUPS)
    found = {group_of(result.name) for result in known if not _is_unselected(result)}
    return frozenset(group for group in found if group is not None)


def groups_of_report(report: ValidationReport) -> frozenset[str]:
    """The groups that the run of a report was asked for."""
    return measured_groups(report.groups, report.criteria)


def is_partial(groups: frozenset[str]) -> bool:
    """Whether something was not asked for."""
    return groups != frozenset(GROUPS)


def _is_unselected(result: CriterionResult) -> bool:
    return result.reason_code == "not_selected"
