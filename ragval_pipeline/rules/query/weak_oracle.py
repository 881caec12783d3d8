"""Questions that almost any answer passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.numbers import show_percent


class Details(NamedTuple):
    """How easily a query passes.

    Attributes:
        chance: Share of random results that pass it, 0..1.
        base_rate: Share of the points that meet what it asks of one hit.
        top_k: Number of hits.
        conditions: The conditions that decide.
        keywords: Its expected keywords.
    """

    chance: float
    base_rate: float
    top_k: int
    conditions: Sequence[str]
    keywords: Sequence[str]

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"random hits pass it {show_percent(self.chance)} of the time"


RULE = Rule(
    code="query.weak_oracle",
    severity="warning",
    level="subject",
    group="queries",
    subject_kind="query",
    action="query",
    title="Questions that almost any answer passes",
    means="would pass with random hits in at least half of all cases",
    many="would pass with random hits in at least half of all cases",
    measured=(
        "The probability that hits drawn at random from this index pass the query is computed. Where a score "
        "is judged, only the query's own hits are known to reach it, and any other chunk counts as one that does not."
    ),
    cause="Too many chunks match the expected words, module or pages for this top_k.",
    remedy="Expect something that only the right chunks contain.",
    reads={Aspect.SPLIT, Aspect.ONCE, Aspect.PRESENCE},
    simulated_as="weak queries",
    details=Details,
)
