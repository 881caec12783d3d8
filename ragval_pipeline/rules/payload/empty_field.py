"""Field empty."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.fields import tell_lacking
from ragval_pipeline.rules.rule import Rule

SQL = """
select point_id as name, page_key as page, path as scope, page_url,
  case when page_url is null then chunk_index end as chunk_index,  -- only it shows which page may have lost the point
  case when page_url is null and chunk_index is not null then [chunk_index] end as _indices,
  [coalesce(field, path)] as _fields, field as all_field, required as all_required,
  case when field = 'text' then 1 else 1 / (select greatest(count(field), 1) from fields) end as _extent
from odd_fields join points using (point_id)
where level = 'empty'
"""

RULE = Rule(
    code="payload.empty_field",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Field empty",
    means="has no value in a field that it needs",
    many="have no value in a field that they need",
    measured=(
        "The text and each required field are checked for a value: null, blanks, invisible characters and "
        "empty lists count as empty, 0 and false do not."
    ),
    cause="The extraction found nothing for this field and stored it anyway.",
    remedy="Correct the extraction of the field, then re-ingest the pages of these points.",
    breaks={Aspect.FIELD},
    reads={Aspect.ORIGIN},
    lowers=("metadata_completeness",),
    judged_by=("metadata_completeness",),
    repair="fill",
    lacks_value=True,
    sql=SQL,
    tell=tell_lacking,
)
