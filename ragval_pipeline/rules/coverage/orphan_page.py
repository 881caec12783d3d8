"""Indexed pages that are not on the site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """Why a page is not of the site, and what is stored of it.

    Attributes:
        reason: Why it is none.
        points: Number of its points.
        another_site: Host of the other site that it is of.
        stands_for: Pages of the site, as in the sitemap, that are missing and whose text it has.
    """

    reason: str
    points: int
    another_site: str | None = None
    stands_for: Sequence[str] | None = None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        told = f"{self.reason}; {plural(self.points, 'chunk')}"
        pages = [names.path(url) for url in self.stands_for or ()]
        return f"{told}; the text of {names.value('pages', pages)}" if pages else told


SQL = """
select source_url as name, page_key as page, coalesce(out_of_scope, 'not listed by the site') as reason, points,
  another_site, another_site is not null or (
    -- where the site lists such files, one that it does not list is gone
    addresses.is_document and out_of_scope is null and not exists (from site where in_scope and is_document)
  ) as _is_foreign
from addresses left join (from site where out_of_scope <> '') as left_out using (page_key)
where page_key not in (select page_key from site where in_scope)
  and exists (from site where in_scope)  -- with nothing in scope, the scope is wrong
"""

RULE = Rule(
    code="coverage.orphan_page",
    severity="warning",
    level="subject",
    group="coverage",
    subject_kind="page",
    action="delete",
    title="Indexed pages that are not on the site",
    means="is in the index but not in scope",
    many="are in the index but not in scope",
    measured=(
        "The pages of all points are compared with the pages of the site in scope. Those without a "
        "counterpart are listed."
    ),
    cause="The page was removed from the site, or was ingested although it is out of scope.",
    remedy="Delete the points of these pages, or bring the pages into scope.",
    breaks={Aspect.FIELD},
    reads={Aspect.FIELD, Aspect.LISTED},
    fields=("source_url",),
    repair="delete",
    details=Details,
    sql=SQL,
)
