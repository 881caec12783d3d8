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
from ragval_pipeline.validation.thresholds import FEWEST, MOST, WHOLE


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
    def owners(self) -> Mapping[str, str]:
        """The partition that a page's address names in its host or a folder, as in ``/docs/3.1/intro``, by page.

        Partitions count that several addresses name, if most of these pages are in them: all may have a folder that is
        called like one.
        """
        values = {tag.casefold(): tag for points in self.pages.values() for point in points for tag in point.tags}
        naming = {key: {values[step] for step in _steps(key) if step in values} for key in self.pages}
        pages, within = Counter[str](), Counter[str]()
        for key, named in naming.items():
            pages.update(named)
            within.update(named.intersection(tag for point in self.pages[key] for tag in point.tags))
        telling = {value for value, count in pages.items() if count >= FEWEST and within[value] > MOST * count}
        owners_named = {key: named & telling for key, named in naming.items()}
        return {key: next(iter(named)) for key, named in owners_named.items() if len(named) == 1}

    @cached_property
    def by_page(self) -> bool:
        """Whether partitions are whole pages: most have points of one only."""
        several = sum(len({point.tags for point in points}) > 1 for points in self.pages.values())
        return several < FEWEST or several <= MOST * len(self.pages)

    @cached_property
    def nearly_whole(self) -> Mapping[str, str]:
        """The partition of nearly all points of a page, by page, if nearly all pages have one.

        Then single points of others are scattered over the pages.
        """
        long = {key: points for key, points in self.pages.items() if len(points) >= FEWEST}
        counts = {key: Counter(point.tags for point in points).most_common(1)[0] for key, points in long.items()}
        found = {
            key: tags[0] for key, (tags, count) in counts.items() if len(tags) == 1 and count >= WHOLE * len(long[key])
        }
        return found if len(found) >= WHOLE * len(long) else {}

    @cached_property
    def with_pages(self) -> frozenset[str]:
        """The partitions that have several pages of their own, among those nearly all pages are of."""
        return frozenset(tag for tag, pages in Counter(self.nearly_whole.values()).items() if pages >= FEWEST)


def _steps(key: str) -> Iterator[str]:
    """What an address may name a partition by: its host, each part of that, and its folders."""
    *folders, _ = key.casefold().removeprefix("https://").split("/")
    yield from folders
    yield from folders[0].split(".") if folders else ()


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
            message=f"No point has a value of {path}, the field of qdrant.partition_by, that a filter can ask for.",
            cause="It has another path in the payload, such as one within an object, or the ingestion did not set it.",
            remedy=f"Correct qdrant.partition_by, or set the field and ingest again. {near}".rstrip(),
            details=details,
        )
    elif subjects:
        yield make_finding(
            PARTITION_UNTAGGED.code, subjects, cause=f"The ingestion did not set {path} for them.", details=details
        )


@detector(PARTITION_LEAK, needs=Partitioned)
def find_leaks(partitioned: Partitioned) -> Iterator[Finding]:
    """Points whose address names another partition, and those in another one than all others of their page."""
    away = [(point, other) for key, points in partitioned.pages.items() for point, other in _away(partitioned, key)]
    pages: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for point, other in away:
        pages[", ".join(point.tags), other].add(point.page_key or "")
    owned = Counter(partitioned.owners.values())
    # A partition with most of another one's pages has them on purpose.
    shared = {way for way, keys in pages.items() if owned[way[1]] and len(keys) > MOST * owned[way[1]]}
    ways: Counter[tuple[str, str]] = Counter()
    subjects = []
    for point, other in away:
        way = ", ".join(point.tags), other
        if way not in shared:
            ways[way] += 1
            subjects.append(_subject(point, partition=way[0], belongs_to=other))
    if subjects:
        named = "; ".join(
            f"{plural(count, 'point')} of {printable(other)} in {printable(tag)}"
            for (tag, other), count in ways.most_common(NAMED)
        )
        cause = f"{PARTITION_LEAK.cause} Found: {named}."
        yield make_finding(PARTITION_LEAK.code, subjects, cause=cause, details={"field": partitioned.path})


def _away(partitioned: Partitioned, key: str) -> Iterator[tuple[Tagged, str]]:
    """The points of a page that are not where they belong, each with the partition that it belongs to."""
    points, owner = partitioned.pages[key], partitioned.owners.get(key)
    named = set(partitioned.owners.values())
    for point in points:
        if owner in point.tags:
            continue
        # A partition that no address names, such as a plan, may be a selection from others.
        by_address = owner is not None and named.issuperset(point.tags)
        if by_address:
            other = owner
        elif partitioned.by_page:
            other = _of_all_others(point, points)
        elif partitioned.with_pages.issuperset(point.tags) and not _is_copied(point, points):
            other = partitioned.nearly_whole.get(key)
        else:
            other = None  # a partition that is only ever a part of pages, such as what all may read, is so on purpose
        if other is not None and other not in point.tags:
            yield point, other


def _of_all_others(point: Tagged, points: Sequence[Tagged]) -> str | None:
    """The one partition of all other points of a page, if they are several and none holds the same text.

    The same text may be in two partitions on purpose.
    """
    others = [other for other in points if other is not point]
    tags = {other.tags for other in others}
    if len(others) + 1 < FEWEST or len(tags) > 1 or _is_copied(point, points):
        return None
    [own] = tags
    return own[0] if len(own) == 1 else None


def _is_copied(point: Tagged, points: Sequence[Tagged]) -> bool:
    return point.text is not None and any(other.text == point.text for other in points if other is not point)


def _subject(point: Tagged, **details: str) -> Subject:
    told = {**details, **({"page_url": point.page_url} if point.page_url else {})}
    return Subject(point.point_id, details=told, page=point.page_key)
