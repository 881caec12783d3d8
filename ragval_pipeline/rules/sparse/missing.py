"""Sparse vectors missing."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Found, Rule, Told

SQL = """
with searched as (select * from sparse_vectors where is_searched),
lacking as (
  select point_id, any_value(page_key) as page_key, any_value(page_url) as page_url,
    bool_and(problem = 'empty') as is_empty
  from judged_sparse join searched using (vector)
  where problem in ('missing', 'empty') and has_words
  group by point_id
  having count(distinct vector) = (select count(*) from searched)
)
select point_id as name, page_key as page, page_url, if(is_empty, 'empty', null) as vector,
  (select string_agg(vector, ', ' order by place) from searched) as scope,
  (select arg_min(points, place) from searched) as all_points
from lacking
"""


def tell(found: Found) -> Told:
    """Their share of all points; where none has any, the ingestion writes none."""
    points = found.whole["points"]
    details = {"share": found.share(points), "points": points}
    if len(found) < points:
        return Told(details=details)
    none = f"None of {points:,} points has a sparse vector: hybrid searches of this collection are dense only."
    return Told(
        message=none if points > 1 else None,
        cause="The collection was created with a sparse vector, and the ingestion writes none.",
        details=details,
    )


RULE = Rule(
    code="sparse.missing",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Sparse vectors missing",
    means="has no sparse vector, so that keyword search cannot find it",
    many="have no sparse vector, so that keyword search cannot find them",
    measured=(
        "The sparse vectors of all points are read: those under retrieval.sparse.vector_name, else every "
        "one of the collection. A point is listed if it has none of them, or only empty ones, although its text has "
        "words."
    ),
    cause="The point was written before hybrid search was switched on, or by another writer.",
    remedy="Ingest these points again with their sparse vectors.",
    reads={Aspect.FIELD},
    fields=("text",),
    sql=SQL,
    tell=tell,
)
