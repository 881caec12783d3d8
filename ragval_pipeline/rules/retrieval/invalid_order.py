"""Hits in the wrong order."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

SQL = """
with scored as (  -- a dot product is unbounded, but infinity and NaN are never valid
  select query_id, rank, score, distance, lag(score) over (partition by query_id order by rank) as better,
    if(distance in ('Cosine', 'Dot'), 1, -1) as sign,
    not isfinite(score) or (distance <> 'Dot' and score < if(distance = 'Cosine', -1, 0) - $ROUNDING)
      or (distance = 'Cosine' and score > 1 + $ROUNDING) as is_outside
  from hits cross join run
), wrong as (
  select distinct on (query_id) * from scored
  where is_outside or sign * score > sign * better + $ROUNDING
  order by query_id, is_outside desc, rank
)
select query_id as name, if(is_outside, 'range', 'order') as problem, rank,
  if(is_outside, score, null) as score, if(is_outside, distance, null) as distance,
  if(is_outside, null, [better, score]) as scores,
  -- A valid score reaches a threshold or not, whatever the rank of its hit.
  if(is_outside, null, ['REACH', 'SELECTION']) as _without
from wrong
"""

RULE = Rule(
    code="retrieval.invalid_order",
    severity="error",
    level="run",
    group="queries",
    subject_kind="query",
    action="setting",
    title="Hits in the wrong order",
    means="has hits out of order or scores out of range",
    many="have hits out of order or scores out of range",
    measured="The scores of each query's hits must be descending and within the range of the collection's distance.",
    cause="The retriever reorders or rescales its hits.",
    remedy="Return hits in descending order of the collection's own score.",
    breaks={Aspect.REACH, Aspect.SELECTION},
    sql=SQL,
)
