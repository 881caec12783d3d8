"""Field of the wrong type."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.fields import tell_odd
from ragval_pipeline.rules.rule import Rule

SQL = """
select point_id as name, page_key as page, path as scope, value, page_url,
  case when page_url is null then chunk_index end as chunk_index,  -- only it shows which page may have lost the point
  case when page_url is null and chunk_index is not null then [chunk_index] end as _indices,
  [coalesce(field, path)] as _fields, field as all_field, required as all_required,
  case when field = 'text' then 1 else 1 / (select greatest(count(field), 1) from fields) end as _extent,
  must_be as all_must_be,
  arg_min(is_file, point_id) filter (where value is not null) over (partition by path) as all_is_file
from odd_fields join points using (point_id)
where level = 'wrong_type'
"""

RULE = Rule(
    code="payload.wrong_type",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Field of the wrong type",
    means="has a field of the wrong type",
    many="have a field of the wrong type",
    measured="The type of each value is compared with the type that the field needs: text, number, list of headings.",
    cause="The ingestion wrote the value in a different type than readers expect.",
    remedy="Write the field in the correct type, then re-ingest the pages of these points.",
    breaks={Aspect.FIELD},
    repair="fill",
    sql=SQL,
    tell=tell_odd,
)
