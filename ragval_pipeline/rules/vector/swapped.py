"""Vectors swapped between texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Found, Rule, Told


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


SQL = """
select point_id as name, page_key as page, page_url, belongs_to,
  list_sort(list_distinct(list_filter([belongs_to, holder], lambda other: other is not null))) as others,
  cosine, cosine_there, collection_points as all_points, is_sample as all_is_sample
from judged_vectors cross join run
where problem = 'swapped'
"""


def tell(found: Found) -> Told:
    """How many; there may be more among the points that were not compared."""
    least = "At least " if found.whole["is_sample"] else ""
    return Told(
        message=f"{least}{len(found):,} points have a vector that belongs to the text of another point.",
        details={"share": found.share(found.whole["points"])},
    )


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
    sql=SQL,
    tell=tell,
)
