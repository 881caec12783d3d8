"""Index holds pages of another host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """What is stored under a host.

    Attributes:
        pages: Its pages.
        points: Their chunks.
        urls: Some of their addresses.
    """

    pages: int
    points: int
    urls: Sequence[str]

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"{plural(self.pages, 'page')} with {plural(self.points, 'chunk')}, such as {self.urls[0]}"


RULE = Rule(
    code="coverage.foreign_host",
    severity="error",
    level="corpus",
    group="coverage",
    subject_kind="host",
    action="reingest",
    title="Index holds pages of another host",
    means="of the index is not the site's",
    many="of the index are not the site's",
    measured=(
        "The hosts of the stored URLs are compared with the host of the site. Another host is reported "
        "if it has pages that the site has under the same path, or if nothing is stored from the site's own host. A "
        "single page of an unrelated site is reported as an orphan instead."
    ),
    cause="The collection was ingested from another deployment, or holds another site.",
    remedy=(
        "If the host serves the same site, add it to source.host_aliases. If several sites share the "
        "collection, exclude its points with qdrant.filter. Otherwise delete its points, listed under "
        "review_point_ids in remediation.json, and ingest the site's own pages, listed under reingest_urls."
    ),
    breaks={Aspect.FIELD, Aspect.ORIGIN},
    fields=("source_url",),
    repair="readdress",
    repairs_all=True,
    to_copy="host_aliases",
    details=Details,
)
