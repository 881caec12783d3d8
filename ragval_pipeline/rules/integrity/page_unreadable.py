"""Pages that could not be read."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """Why a page could not be read.

    Attributes:
        reason: Why.
        points: Its chunks.
    """

    reason: str
    points: int

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"{self.reason}; {plural(self.points, 'chunk')} not checked"


SQL = """
select url as name, page_key as page, problem as reason, points,
  -- the page judges nothing, unless its chunks are known to have none of its text
  case when not is_notice then ['TEXT'] end as _without
from judged_pages where state = 'unreadable'
"""

RULE = Rule(
    code="integrity.page_unreadable",
    severity="warning",
    level="subject",
    group="integrity",
    subject_kind="page",
    action="site",
    title="Pages that could not be read",
    means="could not be read, or shows no text without a browser",
    many="could not be read, or show no text without a browser",
    measured=(
        "Each page in scope, and each page that chunks come from, is read. Pages that do not respond, or "
        "have almost no text without JavaScript, are listed, and their chunks are not compared."
    ),
    cause=(
        "The page is gone, refuses access, builds its text in the browser, or shows a login or consent wall "
        "instead of its text."
    ),
    remedy="Make the page readable without a browser, a login or consent; exclude it if it is gone.",
    breaks={Aspect.PAGE, Aspect.TEXT},
    reads={Aspect.PAGE},
    repair="untried",
    details=Details,
    sql=SQL,
)
