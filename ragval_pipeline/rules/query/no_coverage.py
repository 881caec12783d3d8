"""Modules without a test question."""

from ragval_pipeline.rules.rule import Rule

SQL = """
with asked as (select distinct unnest(modules) as module from test_queries where not negative)
select distinct name from site_modules
where module not in (select module from asked) and not is_version
  and exists (from asked)  -- no query names a module or a page: nothing is compared
"""

RULE = Rule(
    code="query.no_coverage",
    severity="info",
    level="run",
    group="queries",
    subject_kind="module",
    action="query",
    title="Modules without a test question",
    means="has no test question about it",
    many="have no test question about them",
    measured="Modules of the index are listed if no test query names them or has a relevant page in them.",
    cause="The test set does not cover the site.",
    remedy="Add queries about these modules.",
    sql=SQL,
)
