"""A point as the subject of a finding: its id, its page, and the address of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, Subject

#: Snapshot columns that ``point_ref`` reads.
REF_COLUMNS = ("point_id", "page_key", "page_url", "source_url")


class PointRef(NamedTuple):
    """A point.

    Attributes:
        point_id: Its id as text.
        page_key: Canonical form of its page, or None.
        page_url: The page as the sitemap spells it when it is in scope, else as stored, or None.
    """

    point_id: str
    page_key: str | None
    page_url: str | None

    def subject(self, *, points: tuple[str, ...] = (), **details: Any) -> Subject:
        """The subject of a finding, with what was measured on it, and other points that it is about."""
        named = {} if self.page_url is None else {"page_url": self.page_url}
        return Subject(name=self.point_id, page=self.page_key, points=points, details={**named, **details})


def with_share(finding: Finding, points: int) -> Finding:
    """The finding of some points with their share of all: it tells how bad it is and how far its consequences reach."""
    if finding.subject_kind != "point" or not points:
        return finding
    counted = "1 point " if finding.count == 1 else f"{finding.count:,} points "
    message = finding.message
    if message.startswith(counted):
        message = f"{finding.count:,} of {points:,} points {message[len(counted) :]}"
    details = {**finding.details, "share": round(finding.count / points, 4)}
    row = CATALOGUE[finding.code]
    severity = row.severity_of(finding.count, points)
    # What a detector graded otherwise stays so, unless the share raises it.
    severity = finding.severity if severity == row.severity else severity
    return finding.model_copy(update={"message": message, "details": details, "severity": severity})


def point_ref(row: Mapping[str, Any]) -> PointRef:
    """The point of a snapshot row."""
    return PointRef(row["point_id"], row["page_key"], row["page_url"] or row["source_url"])
