"""Repeated test questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Queries with the same text.

    Attributes:
        others: Their ids.
        contradicting: Whether they expect something else.
    """

    others: Sequence[str]
    contradicting: bool

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        told = f"the same question as {names.value('ids', self.others)}"
        return f"{told}, which expects something else" if self.contradicting else told


SQL = """
with repeated as (
  select question, list(query_id order by query_id) as ids, count(distinct expects) > 1 as contradicting,
    count(distinct negative) > 1 as refusing, coalesce(bool_or(passed and not negative), false) as is_met
  from test_queries group by question having count(*) > 1
)
select query_id as name, list_filter(ids, lambda other: other <> query_id) as others, contradicting,
  -- A duplicate's expected result is no wrong answer to this one. What it finds is what another one expects of it.
  list_concat(case when not refusing then ['SELECTION'] end,
    case when not (contradicting and is_met and not coalesce(passed, false)) then ['TARGET'] end) as _without
from test_queries join repeated using (question)
"""

RULE = Rule(
    code="query.duplicate",
    severity="warning",
    level="subject",
    group="queries",
    subject_kind="query",
    action="query",
    title="Repeated test questions",
    means="is in the test set more than once",
    many="are in the test set more than once",
    measured=(
        "Queries are grouped by their filter and their text, with case and accents folded. If one of a group passes, "
        "another that expects something else fails because of that."
    ),
    cause="The query was copied, or two people expect different results for it.",
    remedy="Keep one of each, and resolve contradictory expectations.",
    breaks={Aspect.SELECTION, Aspect.TARGET},
    details=Details,
    sql=SQL,
)
