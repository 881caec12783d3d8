"""Questions no longer answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.numbers import show_score


class Details(NamedTuple):
    """The results of a query in both runs.

    Attributes:
        before: In the baseline.
        now: In this run; None: it was not run.
        reason: Why it fails now.
    """

    before: Mapping[str, Any]
    now: Mapping[str, Any] | None
    reason: str | None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        if self.now is None:
            return str(self.reason)
        before, now = (_first_hit(hit, names) for hit in (self.before, self.now))
        return f"first came {before}, now {now}" if before != now else str(self.reason).partition(" (found:")[0]


def _first_hit(hit: Mapping[str, Any], names: Names) -> str:
    page = names.page(str(hit["first_page"])) if hit.get("first_page") else "a point without a page"
    return f"{page} with {show_score(hit['best_similarity'])}" if hit.get("first_chunk") else "nothing"


RULE = Rule(
    code="regression.query_lost",
    severity="warning",
    level="run",
    group="regression",
    subject_kind="query",
    action="query",
    title="Questions no longer answered",
    means="passed before and fails now",
    many="passed before and fail now",
    measured="Queries that passed in the baseline and fail now are listed.",
    cause="The answer to the query is gone or ranks lower.",
    remedy="Compare the hits of both runs.",
    reads={Aspect.ANSWER},
    judged_by=("no_regression",),
    simulated_as="lost queries",
    details=Details,
)
