"""One page under several addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import LISTED, Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Other addresses of the page.

    Attributes:
        points: Number of the points that are stored under this one.
        others: The other addresses.
    """

    points: int
    others: Sequence[str]

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"also stored as {', '.join(self.others[:LISTED])}"


RULE = Rule(
    code="coverage.url_variant",
    severity="warning",
    level="subject",
    group="coverage",
    subject_kind="page",
    action="delete",
    title="One page under several addresses",
    means="is also stored under another address",
    many="are also stored under other addresses",
    measured=(
        "Stored URLs that refer to the same page are grouped, and every page with more than one URL is "
        "listed. URLs that differ in case or fragment count only if the same chunk is stored under both."
    ),
    cause=(
        "Links with http and https, or with and without a trailing slash, .html, www or a fragment, were "
        "ingested as different pages."
    ),
    remedy=(
        "Normalise URLs before ingesting. For each page, keep one URL and delete the points of the others. "
        "If each URL holds a different part of the page, re-ingest the page first."
    ),
    breaks={Aspect.FIELD, Aspect.ONCE, Aspect.POSITION},
    fields=("source_url",),
    repair="copies",
    keeps_one=True,
    to_copy="nothing",
    details=Details,
)
