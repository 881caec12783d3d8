"""Test questions not answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import OF_TEXTS, OF_VECTORS, Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Why a query failed.

    Attributes:
        conditions: The conditions that it missed.
        reason: Why.
        best_similarity: Its best score; None: no results.
        threshold: The score that it must reach, or, if it should find nothing, must not.
        expected_pages: Pages that it expects.
        expected_module: The module that it expects.
        fields: Payload fields that it is judged by.
        points: Ids of the points that it found.
    """

    conditions: Sequence[str]
    reason: str | None
    best_similarity: float | None
    threshold: float
    expected_pages: Sequence[str]
    expected_module: str | None
    fields: Sequence[str]
    points: Sequence[str]

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return without_found(str(self.reason or ""))


#: What the hits have instead of what was expected, at the end of a clause of a reason: names may have parentheses.
_FOUND = re.compile(r" \(found: .*?\)(?=; |$)")


def with_found(reason: str, found: str) -> str:
    """Why a question failed, with what its hits have instead."""
    return f"{reason} (found: {found})"


def without_found(reason: str) -> str:
    """Why a question failed, in the conditions that it missed, without what its hits have instead."""
    return _FOUND.sub("", reason)


RULE = Rule(
    code="query.failed",
    severity="error",
    level="subject",
    group="queries",
    subject_kind="query",
    action="query",
    title="Test questions not answered",
    means="is not answered as expected",
    many="are not answered as expected",
    measured=(
        "Each test query is run, and each of its expectations is checked against the hits. The query fails "
        "if one expectation is not met."
    ),
    cause="The index does not return what the query expects.",
    remedy=(
        "Look at the first hit of each question. If it answers the question, correct the expectation; "
        "otherwise correct the chunks of the expected page."
    ),
    breaks={Aspect.ANSWER},
    reads=OF_TEXTS
    | OF_VECTORS
    | {
        Aspect.FIELD,
        Aspect.PRESENCE,
        Aspect.POSITION,
        Aspect.COPIES,
        Aspect.CURRENT,
        Aspect.DISTINCTION,
        Aspect.TARGET,
        Aspect.RANK,
        Aspect.PLACES,
        Aspect.REACH,
    },
    lowers=("critical_queries", "relevance_rate", "accuracy", "avg_similarity", "keyword_recall"),
    judged_by=("query_pass_rate",),
    simulated_as="failed queries",
    fails_rankings=True,
    details=Details,
)
