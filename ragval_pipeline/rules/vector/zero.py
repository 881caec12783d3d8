"""Vectors of zeros."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """What a vector holds.

    Attributes:
        numbers: What is wrong with its numbers, if they are not zeros.
    """

    numbers: str | None = None

    def note(self, _: Names) -> str:
        """Empty: names and values say it."""
        return ""


RULE = Rule(
    code="vector.zero",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors of zeros, or with NaN",
    means="has a vector of zeros",
    many="have a vector of zeros",
    measured="The length of every stored vector is computed.",
    cause="The embedding failed and zeros were stored instead.",
    remedy="Re-embed these points.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.FIELD},
    fields=("text",),
    lowers=("embedding_match",),
    repair="embed",
    details=Details,
)
