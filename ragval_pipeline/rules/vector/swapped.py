"""Vectors swapped between texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Whose vector a point has.

    Attributes:
        belongs_to: Id of the point whose it is; None: only another point has its own.
        others: Ids of both: of that point, and of the one that has this one's vector.
        cosine: Similarity to the vector of its own text, -1..1.
        cosine_there: Similarity to that of the other's text.
    """

    belongs_to: str | None
    others: Sequence[str]
    cosine: float
    cosine_there: float | None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        if self.belongs_to is None or self.cosine_there is None:
            return ""
        owner = names.value("others", [self.belongs_to])
        return f"its vector has similarity {self.cosine:.2f} to its own text, and {self.cosine_there:.2f} to {owner}"


RULE = Rule(
    code="vector.swapped",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors swapped between texts",
    means="has a vector that belongs to another text",
    many="have a vector that belongs to another text",
    measured=(
        "A vector that does not fit its own text is compared with the other texts. It is listed if it fits one of them."
    ),
    cause="Vectors and payloads got out of step when they were written.",
    remedy="Re-embed these points.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.OWN},
    lowers=("embedding_match",),
    repair="embed",
    details=Details,
)
