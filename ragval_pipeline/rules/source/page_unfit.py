"""Site lists pages that it should not."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Why a page should not be listed.

    Attributes:
        reason: Why.
    """

    reason: str

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return str(self.reason)


SQL = """
select url as name, page_key as page, unfit as reason,
  -- chunks may be stored under the page that it redirects to, which the site does not list
  case when target not in (select page_key from judged_pages) then [target] end as _pages
from judged_pages where unfit <> ''
"""

RULE = Rule(
    code="source.page_unfit",
    severity="warning",
    level="subject",
    group="integrity",
    subject_kind="page",
    action="site",
    title="Site lists pages that it should not",
    means="of the site redirects, is noindex, is gone, or shows only what others show",
    many="of the site redirect, are noindex, are gone, or show only what others show",
    measured=(
        "Each page in scope is read. It is listed if the server redirects it to another page, responds "
        "that it is gone, if the page asks not to be indexed, or if it shows the same few words as pages with other "
        "names and nothing else. If most pages redirect to the same page, it is an error: none of them can be read."
    ),
    cause="The sitemap or list has all that was built, or was not rebuilt after pages were moved or removed.",
    remedy=(
        "Remove the page from the sitemap or list, or exclude it with source.exclude; list the target of a "
        "redirect instead; restore the page if it should be there."
    ),
    breaks={Aspect.PAGE, Aspect.LISTED},
    to_copy="exclude",
    details=Details,
    sql=SQL,
)
