"""Pages changed since they were embedded."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """When a page changed, and when its chunks were embedded.

    Attributes:
        lastmod: As in the sitemap.
        embedded_at: The latest time of its chunks.
    """

    lastmod: str | None
    embedded_at: str

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"changed {self.lastmod}, embedded {self.embedded_at}"


RULE = Rule(
    code="coverage.stale_page",
    severity="warning",
    level="subject",
    group="coverage",
    subject_kind="page",
    action="reingest",
    title="Pages changed since they were embedded",
    means="changed after it was embedded",
    many="changed after they were embedded",
    measured=(
        "The page's lastmod date in the sitemap is compared with the time stored with its newest chunk. "
        "Without plausible dates nothing is reported."
    ),
    cause="The page was edited and the index was not updated.",
    remedy="Re-ingest these URLs.",
    breaks={Aspect.VERSION},
    repair="complete",
    details=Details,
)
