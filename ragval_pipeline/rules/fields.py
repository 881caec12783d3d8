"""What findings about the payload fields of points have in common."""

from __future__ import annotations

from typing import Any

from ragval_pipeline.rules.rule import Found, Severity, Told

#: Why a field is essential even if not required, by canonical name.
_WHY_ALWAYS = {
    "text": "a point without text cannot be searched",
    "source_url": "a point without a page cannot be compared with a page",
}
#: What to do about files stored as addresses.
_OF_FILES = (
    "If the points name the files that the site is built from, set source.folder to the folder of these files, instead "
    "of the sitemap: each file then belongs to its page. Otherwise, as for temporary copies of uploads, store the "
    "address of the page, and re-ingest."
)


def odd_values(level: str, *columns: str) -> str:
    """The query of points whose value of a field is of one level: ``wrong_type`` or ``invalid``, with more columns."""
    more = "".join(f"\n  {column}," for column in columns)
    return f"""
select point_id as name, page_key as page, path as scope, value, page_url,
  case when page_url is null then chunk_index end as chunk_index,  -- only it shows which page may lack the point{more}
  case when page_url is null and chunk_index is not null then [chunk_index] end as _indices,
  [coalesce(field, path)] as _fields, field as all_field, required as all_required,
  case when field = 'text' then 1 else 1 / (select greatest(count(field), 1) from fields) end as _extent,
  must_be as all_must_be,
  arg_min(is_file, point_id) filter (where value is not null) over (partition by path) as all_is_file
from odd_fields join points using (point_id)
where level = '{level}'
"""  # noqa: S608  no value in it is from elsewhere


def details_of(found: Found) -> dict[str, Any]:
    """The canonical field, if the path has one; and that the suite does not require it, if so."""
    field, required = found.whole["field"], found.whole["required"]
    named = {} if field is None else {"field": field}
    return named if required else {**named, "required": False}


def tell_lacking(found: Found) -> Told:
    """A field that points lack, or have no value of."""
    if found.whole["required"]:
        return Told(details=details_of(found))
    field = found.whole["field"] or ""
    always = _WHY_ALWAYS.get(field, "almost all other points have it")
    # The point can still be found, and may intentionally have none.
    severity: Severity | None = None if field == "text" else "warning"
    cause = f"payload.required does not name the field, but {always}."
    return Told(cause=cause, details=details_of(found), severity=severity)


def tell_odd(found: Found) -> Told:
    """A field with values that it cannot have."""
    path = found.rows[0]["scope"]
    example = next((row["value"] for row in found.rows if row["value"] is not None), None)
    held = "" if example is None else f"; found {example}"
    is_file = found.whole["field"] == "source_url" and found.whole["is_file"]
    return Told(
        cause=f"{path} must be {found.whole['must_be']}{held}.",
        remedy=_OF_FILES if is_file else None,
        details=details_of(found),
    )
