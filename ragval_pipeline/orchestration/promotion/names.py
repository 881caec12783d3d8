"""The names of a promotion: assets, check, jobs and the writer's resource key. What does not live here: the things."""

from __future__ import annotations

SIDE_BY_SIDE = "side_by_side"
PROMOTED_ALIAS = "promoted_alias"
NO_WORSE = "no_worse_than_live"
ALIAS_WRITER = "alias_writer"


def promotion_job_name(suite: str) -> str:
    """The job that validates both sides and moves the alias."""
    return f"{suite}_promotion"


def rollback_job_name(suite: str) -> str:
    """The job that moves the alias back."""
    return f"{suite}_rollback"
