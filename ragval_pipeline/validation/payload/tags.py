"""Whether every point has the partition that it belongs to: the tenant, version or language that searches filter by."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.partition.leak import RULE as PARTITION_LEAK
from ragval_pipeline.rules.partition.untagged import RULE as PARTITION_UNTAGGED
from ragval_pipeline.sources.payload_paths import path_meant
from ragval_pipeline.text.printing import plural, printable
from ragval_pipeline.validation.belonging import Tagged
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.thresholds import FEWEST, MOST


@dataclass(frozen=True)
class Partitioned:
    """The points of a collection with several partitions.

    Attributes:
        path: The payload field.
        points: Every point.
        observed: Payload paths of the first points.
    """

    path: str
    points: Sequence[Tagged]
    observed: Sequence[str] = ()

    @cached_property
    def pages(self) -> Mapping[str, Sequence[Tagged]]:
        """The points with a partition, by page."""
        pages: defaultdict[str, list[Tagged]] = defaultdict(list)
        for point in self.points:
            if point.page_key is not None and point.tags:
                pages[point.page_key].append(point)
        return pages

    @cached_property
    def by_page(self) -> bool:
        """Whether partitions are whole pages; else points of several partitions in one page are no accident."""
        several = sum(len({point.tags for point in points}) > 1 for points in self.pages.values())
        return several < FEWEST or several <= MOST * len(self.pages)


@detector(PARTITION_UNTAGGED, needs=Partitioned)
def find_untagged(partitioned: Partitioned) -> Iterator[Finding]:
    """Points without a partition.

    If none has any, the suite may name another path than the payload: then no point is to be ingested again.
    """
    subjects = [_subject(point) for point in partitioned.points if not point.tags]
    path, details = printable(partitioned.path), {"field": partitioned.path}
    if subjects and len(subjects) == len(partitioned.points):
        near = path_meant(partitioned.path, partitioned.observed)
        yield make_finding(
            PARTITION_UNTAGGED.code,
            [],
            message=f"No point has {path}, the field of qdrant.partition_by.",
            cause="It has another path in the payload, or the ingestion did not set it.",
            remedy=f"Correct qdrant.partition_by, or set the field and ingest again. {near}".rstrip(),
            details=details,
        )
    elif subjects:
        yield make_finding(
            PARTITION_UNTAGGED.code, subjects, cause=f"The ingestion did not set {path} for them.", details=details
        )


@detector(PARTITION_LEAK, needs=Partitioned)
def find_leaks(partitioned: Partitioned) -> Iterator[Finding]:
    """Points that are in another partition than all others of their page."""
    subjects = []
    ways: Counter[tuple[str, str]] = Counter()
    for points in partitioned.pages.values() if partitioned.by_page else ():
        for point in points:
            other = _of_all_others(point, points)
            if other is not None and other not in point.tags:
                ways[", ".join(point.tags), other] += 1
                subjects.append(_subject(point, partition=", ".join(point.tags), belongs_to=other))
    if subjects:
        told = "; ".join(
            f"{plural(count, 'point')} of {printable(other)} in {printable(tag)}"
            for (tag, other), count in ways.most_common(NAMED)
        )
        cause = f"{PARTITION_LEAK.cause} Found: {told}."
        yield make_finding(PARTITION_LEAK.code, subjects, cause=cause, details={"field": partitioned.path})


def _of_all_others(point: Tagged, points: Sequence[Tagged]) -> str | None:
    """The one partition of all other points of a page, if they are several and none holds the same text.

    The same text may be in two partitions on purpose.
    """
    others = [other for other in points if other is not point]
    tags = {other.tags for other in others}
    alike = point.text is not None and any(other.text == point.text for other in others)
    if len(others) + 1 < FEWEST or len(tags) > 1 or alike:
        return None
    [own] = tags
    return own[0] if len(own) == 1 else None


def _subject(point: Tagged, **details: str) -> Subject:
    told = {**details, **({"page_url": point.page_url} if point.page_url else {})}
    return Subject(point.point_id, details=told, page=point.page_key)
