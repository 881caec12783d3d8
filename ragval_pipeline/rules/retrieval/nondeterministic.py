"""Search results are not reproducible.

A function and no query: the results of repeated searches are compared and not kept.
"""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.numbers import show_percent


class Details(NamedTuple):
    """How far repeats of a query agree.

    Attributes:
        overlap: Share of the hits that are the same, 0..1.
    """

    overlap: float

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        if self.overlap == 1:
            return "the same hits, in another order or with other scores"
        return f"{show_percent(self.overlap)} of the hits are the same"


RULE = Rule(
    code="retrieval.nondeterministic",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="query",
    action="setting",
    title="Search results are not reproducible",
    means="gets different ids, order or scores when repeated",
    many="get different ids, order or scores when repeated",
    measured=(
        "Each query is run several times (retrieval.repeats), and the ids, order and scores of the hits are compared."
    ),
    cause="Search is approximate, the index is changing, or several points have the same score.",
    remedy="Use exact search, or wait until the index no longer changes.",
    breaks={Aspect.STABLE},
    lowers=("determinism",),
    details=Details,
)
