"""Judging the other points when some came, went or changed while the collection was validated.

Measurements over facts are made again without these points. Those that asked Qdrant or the embedder are not: their
findings lose these points, and so do the criteria that these findings lower.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.sameness import Differences
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement

if TYPE_CHECKING:
    import pyarrow as pa

#: Columns of the points for ``SetAside.of``.
COLUMNS = ("point_id", "page_key", "page_url")


@dataclass(frozen=True)
class SetAside:
    """What is not judged.

    Attributes:
        points: Ids of the points.
        stored: How many of these were read: those that came later were not.
        pages: Keys and addresses of their pages, whose chunks are not all judged.
        arriving: Keys of the pages that had no point when the collection was read.
    """

    points: frozenset[str]
    stored: int
    pages: frozenset[str]
    arriving: frozenset[str]

    @classmethod
    def of(cls, found: Differences, points_read: Iterable[pa.RecordBatch], inventory: SiteInventory) -> SetAside:
        """What is set aside after these differences; ``points_read`` are what was read, by ``COLUMNS``."""
        points = frozenset(found.points)
        chosen, pages, stored = one_of("point_id", points), set[str](), set[str]()
        count = 0
        for batch in points_read:
            rows = batch.filter(chosen(batch)).to_pylist()
            count += len(rows)
            pages.update(value for row in rows for name in ("page_key", "page_url") if (value := row[name]))
            stored.update(batch.column("page_key").drop_null().to_pylist())
        key = inventory.folder().key
        now = {key(address) for address in found.addresses}
        return cls(points, count, frozenset(pages | now), frozenset(now - stored))

    def manifest(self, manifest: SnapshotManifest) -> SnapshotManifest:
        """The snapshot without these points."""
        left = manifest.points - self.stored
        return manifest.model_copy(update={"set_aside": tuple(sorted(self.points)), "points": left})

    def inventory(self, inventory: SiteInventory) -> SiteInventory:
        """The site without the pages whose first points arrived meanwhile: they are neither missing nor there."""
        pages = tuple(page for page in inventory.pages if page.key not in self.arriving)
        return inventory.model_copy(update={"pages": pages})

    def of_judged(self, measurement: Measurement) -> Measurement:
        """A measurement that was made again: pages whose chunks are not all judged have no findings of their own."""
        findings = tuple(self._kept(finding, {"page"}) for finding in measurement.findings)
        return measurement.model_copy(update={"findings": _present(findings)})

    def of_measured(self, measurement: Measurement) -> Measurement:
        """A measurement that is not made again, without these points and the pages that they belong to."""
        findings = [self._kept(finding, {"page", "point"}) for finding in measurement.findings]
        dropped: dict[str, int] = {}
        for before, after in zip(measurement.findings, findings, strict=True):
            if before.subject_kind == "point":
                for criterion in CATALOGUE[before.code].lowers:
                    lost = len(before.subjects) - (len(after.subjects) if after else 0)
                    dropped[criterion] = dropped.get(criterion, 0) + lost
        values = tuple(_without(value, dropped.get(value.name, 0)) for value in measurement.values)
        return measurement.model_copy(update={"findings": _present(findings), "values": values})

    def _kept(self, finding: Finding, kinds: Collection[str]) -> Finding | None:
        """A finding without the subjects that are set aside; None without any other."""
        if finding.subject_kind not in kinds or not finding.subjects:
            return finding
        subjects = [subject for subject in finding.subjects if not self._holds(subject, finding.subject_kind)]
        if len(subjects) == len(finding.subjects):
            return finding
        if not subjects:
            return None
        again = make_finding(
            finding.code,
            subjects,
            scope=finding.scope,
            details=finding.details,
            cause=finding.cause,
            remedy=finding.remedy,
            looked_at=finding.looked_at,
        )
        return again.model_copy(update={"severity": finding.severity})

    def _holds(self, subject: Subject, kind: str) -> bool:
        if kind == "point":
            return subject.name in self.points
        return subject.name in self.pages or subject.page in self.pages


def _present(findings: Sequence[Finding | None]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding is not None)


def _without(value: MeasuredValue, points: int) -> MeasuredValue:
    """A share of points without some that do not count towards it."""
    if not points or value.numerator is None or not value.denominator or value.denominator <= points:
        return value
    denominator = value.denominator - points
    return value.model_copy(
        update={
            "denominator": denominator,
            "value": value.numerator / denominator,
            "reason": f"{value.numerator:,} of {denominator:,}, without {points:,} that changed meanwhile",
        }
    )
