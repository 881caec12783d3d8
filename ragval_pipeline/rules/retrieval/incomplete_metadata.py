"""Hits with incomplete metadata."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

SQL = """
with earliest as (select point_id, min(place) as place from incomplete_hits group by point_id)
select point_id as name, any_value(page_key) as page, list(path order by nth) as lacking, any_value(query_id) as query,
  list(coalesce(field, path) order by nth) as _fields
from incomplete_hits join earliest using (point_id, place)
group by point_id
"""

RULE = Rule(
    code="retrieval.incomplete_metadata",
    severity="error",
    level="subject",
    group="queries",
    subject_kind="point",
    action="reingest",
    title="Hits with incomplete metadata",
    means="was returned for a query but lacks required fields",
    many="were returned for queries but lack required fields",
    measured="The hits of all queries are checked for the required fields.",
    cause="The ingestion did not write these fields.",
    remedy="Make the ingestion write the fields, then re-ingest the pages of these points.",
    reads={Aspect.FIELD},
    lowers=("retrieved_metadata_completeness",),
    sql=SQL,
)
