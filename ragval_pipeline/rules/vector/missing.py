"""Vectors missing."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Found, Rule, Told

SQL = """
select point_id as name, page_key as page, page_url, collection_points as all_points
from judged_vectors cross join run
where problem = 'missing'
"""


def tell(found: Found) -> Told:
    """Their share of all points."""
    return Told(details={"share": found.share(found.whole["points"])})


RULE = Rule(
    code="vector.missing",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors missing",
    means="has no vector under the name that searches use",
    many="have no vector under the name that searches use",
    measured="Every point is checked for a vector under qdrant.vector_name.",
    cause="The point was written without this vector.",
    remedy="Re-embed these points, or correct qdrant.vector_name.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.FIELD},
    fields=("text",),
    lowers=("embedding_match",),
    repair="embed",
    sql=SQL,
    tell=tell,
)
