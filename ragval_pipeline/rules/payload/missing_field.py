"""Field missing."""

from dataclasses import replace

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.fields import tell_lacking
from ragval_pipeline.rules.rule import Found, Rule, Told

SQL = """
select point_id as name, page_key as page, path as scope, page_url,
  case when page_url is null then chunk_index end as chunk_index,  -- only it shows which page may have lost the point
  case when page_url is null and chunk_index is not null then [chunk_index] end as _indices,
  [coalesce(field, path)] as _fields, field as all_field, required as all_required,
  case when field = 'text' then 1 else 1 / (select greatest(count(field), 1) from fields) end as _extent,
  (select count(*) from points) as all_points
from odd_fields join points using (point_id)
where level = 'missing'
"""

_SAY_THE_PAGE = (
    "Make the ingestion store the address of its page with each point, in {name}, and ingest again; if another field "
    "has it, name that field in payload.fields.source_url. Until then no page is compared."
)


def tell(found: Found) -> Told:
    """The field; without any page nothing can be compared."""
    told = tell_lacking(found)
    if found.whole["field"] != "source_url" or len(found) < found.whole["points"]:
        return told
    remedy = _SAY_THE_PAGE.format(name=found.rows[0]["scope"])
    return replace(told, message="No point says which page it is from.", remedy=remedy)


RULE = Rule(
    code="payload.missing_field",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Field missing",
    means="lacks a field that it needs",
    many="lack a field that they need",
    measured=(
        "Each point is checked for its text, for its page if the suite has a site, and for every field in "
        "payload.required. For a field in payload.fields that is not required but that at least 95 % of the points "
        "have, the points without it are a warning."
    ),
    cause="The ingestion did not write this field for these points.",
    remedy=(
        "Make the ingestion write the field, then re-ingest the pages of these points. "
        "Where text and vector are right, it is enough to set the field in the payload."
    ),
    breaks={Aspect.FIELD},
    reads={Aspect.ORIGIN},
    lowers=("metadata_completeness",),
    judged_by=("metadata_completeness",),
    repair="fill",
    lacks_value=True,
    sql=SQL,
    tell=tell,
)
