"""Vectors of zeros."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Found, Rule, Told
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """What a vector holds.

    Attributes:
        numbers: What is wrong with its numbers, if they are not zeros.
    """

    numbers: str | None = None

    def note(self, _: Names) -> str:
        """Empty: names and values say it."""
        return ""


SQL = """
select point_id as name, page_key as page, page_url,
  case when problem = 'not finite' then problem end as numbers, collection_points as all_points
from judged_vectors cross join run
where problem in ('zero', 'not finite')
"""


def tell(found: Found) -> Told:
    """Their share of all points, and how many hold no numbers."""
    details = {"share": found.share(found.whole["points"])}
    endless = sum(row["numbers"] is not None for row in found.rows)
    if not endless:
        return Told(details=details)
    rest = len(found) - endless
    others = f", {rest:,} one of zeros" if rest else ""
    return Told(
        message=f"{plural(endless, 'point')} with NaN or infinite numbers in the vector{others}.",
        cause="The embedding failed, and what it returned was stored without a look at it.",
        details=details,
    )


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
    sql=SQL,
    tell=tell,
)
