"""Same vector for different texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.copies import same_as
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Found, Rule, Told
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """Which points hold the vector of one.

    Attributes:
        others: Their ids.
        group_size: How many hold it, this one included.
    """

    others: Sequence[str]
    group_size: int

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        return same_as(self.others, names)


SQL = """
with same as (
  select vector, list(point_id order by place)[:$SHOWN + 1] as points_of_it, count(*) as size
  from judged_vectors where problem = 'identical' group by vector
)
select point_id as name, page_key as page, page_url,
  list_filter(points_of_it, lambda other: other <> point_id)[:$SHOWN] as others, size as group_size,
  (select count(*) from same) as all_groups, collection_points as all_points
from judged_vectors join same using (vector) cross join run
where problem = 'identical'
"""


def tell(found: Found) -> Told:
    """How many vectors they share."""
    groups = found.whole["groups"]
    return Told(
        message=f"{len(found):,} points have the vector of a point with another text, in {plural(groups, 'group')}.",
        details={"groups": groups, "share": found.share(found.whole["points"])},
    )


RULE = Rule(
    code="vector.identical",
    severity="warning",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Same vector for different texts",
    means="has the same vector as a point with another text",
    many="have the same vector as a point with another text",
    measured="Points with the same vector are grouped, and groups with different texts are listed.",
    cause=(
        "Vectors were written to the wrong points or reused, or a default vector was stored for texts whose embedding "
        "failed."
    ),
    remedy=(
        "Re-embed these points. If a default is stored when an embedding fails, let the ingestion retry and then stop "
        "instead."
    ),
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.TEXT, Aspect.MODEL},
    lowers=("embedding_match",),
    repair="embed",
    details=Details,
    sql=SQL,
    tell=tell,
)
