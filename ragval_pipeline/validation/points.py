"""A point as the subject of a finding: its id, its page, and the address of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.details import Details, written

#: Snapshot columns that ``point_ref`` reads.
REF_COLUMNS = ("point_id", "page_key", "page_url", "source_url")


class PointRef(NamedTuple):
    """A point.

    Attributes:
        point_id: Its id as text.
        page_key: Canonical form of its page, or None.
        page_url: The page as in the sitemap if in scope, else as stored, or None.
    """

    point_id: str
    page_key: str | None
    page_url: str | None

    def subject(self, details: Details | None = None, *, points: tuple[str, ...] = ()) -> Subject:
        """The subject of a finding, with its measurements and related points."""
        measured = on_page(self.page_url, details)
        return Subject(name=self.point_id, page=self.page_key, points=points, details=measured)


def on_page(url: str | None, details: Details | None = None) -> dict[str, Any]:
    """What was measured on a point, and the address of its page."""
    named = {} if url is None else {"page_url": url}
    return named if details is None else {**named, **written(details)}


def with_share(finding: Finding, points: int) -> Finding:
    """The finding of some points with the number of all points, which decides on its severity."""
    if finding.subject_kind != "point" or not points:
        return finding
    counted = "1 point " if finding.count == 1 else f"{finding.count:,} points "
    message = finding.message
    if message.startswith(counted):
        message = f"{finding.count:,} of {points:,} points {message[len(counted) :]}"
    row = CATALOGUE[finding.code]
    # A part of a page that is also in a larger chunk is redundant, and no copy of a point.
    severity = row.severity_of(sum(not subject.within for subject in finding.subjects), points)
    # A severity set by the detector stays, unless the share raises it.
    severity = finding.severity if severity == row.severity else severity
    return finding.model_copy(update={"message": message, "severity": severity})


def point_ref(row: Mapping[str, Any]) -> PointRef:
    """The point of a snapshot row."""
    return PointRef(row["point_id"], row["page_key"], row["page_url"] or row["source_url"])
