"""Id breaks the suite's rule."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """The id that a point should have.

    Attributes:
        expected: The id.
        made_of: The text that it is the hash of.
    """

    expected: str
    made_of: str

    def note(self, _: Names) -> str:
        """Empty: names and values say it."""
        return ""


SQL = """
with made as (
  select *, replace(replace(replace(
    id_rule, '{chunk_index}', chunk_index::text), '{chunk_id}', coalesce(chunk_id, 'None')), '{source_url}', source_url
  ) as made_of
  from points cross join run
)
select point_id as name, page_key as page, coalesce(page_url, source_url) as page_url, md5(made_of) as expected,
  made_of, 'MD5 of ' || id_rule as all_rule
from made
where lower(replace(point_id, '-', '')) <> md5(made_of)  -- Qdrant returns 32 hexadecimal digits as a UUID
"""

RULE = Rule(
    code="payload.id_rule",
    severity="warning",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Id breaks the suite's rule",
    means="has an id that does not follow the suite's rule",
    many="have an id that does not follow the suite's rule",
    measured="The id of each point is computed by the rule of the profile and compared with the stored id.",
    cause="The id rule changed between ingestions, or the points come from elsewhere.",
    remedy=(
        "Re-ingest the pages of these points with the id rule. Then delete these points: "
        "delete_after_ingesting in remediation.json lists them."
    ),
    details=Details,
    sql=SQL,
)
