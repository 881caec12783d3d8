"""Fields that tell copies of a text apart: partitions of an index, such as tenants, or documents."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.thresholds import MOST

if TYPE_CHECKING:
    import pyarrow as pa

#: Name of the version of a point's document in the snapshot's column ``extra``.
VERSION = "payload.document_version"
#: Snapshot columns that ``versions_of`` reads.
VERSION_COLUMNS = ("point_id", "page_key", "extra")
#: Snapshot columns that ``Labels`` reads.
COLUMNS = ("point_id", "page_key", "labels")


class Copies(NamedTuple):
    """What holds the same part of a page, or the same text, as point ids."""

    points: tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """Values of payload fields that no canonical name reads, as text.

    Attributes:
        values: By payload path, the value of each point that has one.
        pages: The page of each point with any; None: it names none.
    """

    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pages: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch]) -> Labels:
        """Those of a snapshot, read with ``COLUMNS``."""
        values: defaultdict[str, dict[str, str]] = defaultdict(dict)
        pages: dict[str, str | None] = {}
        for batch in batches:
            for point, page, told in zip(*(batch.column(name).to_pylist() for name in COLUMNS), strict=True):
                if told is not None:
                    pages[point] = page
                    for path, value in json.loads(told).items():
                        values[path][point] = str(value)
        return cls(values, pages)


@dataclass(frozen=True)
class Partition:
    """A field that tells copies apart, and its value for each point that has one."""

    path: str
    values: Mapping[str, str]


def versions_of(batches: Iterable[pa.RecordBatch], pages: Container[str]) -> dict[str, str]:
    """The version of the document that each point of some pages was cut from, of those that name one, by point id.

    ``batches`` have ``VERSION_COLUMNS``.
    """
    found = {}
    for batch in batches:
        for name, page, extra in zip(*(batch.column(each).to_pylist() for each in VERSION_COLUMNS), strict=True):
            version = json.loads(extra).get(VERSION) if extra and page in pages else None
            if isinstance(version, str) and version:
                found[name] = version
    return found


def overlapping(chunks: Sequence[ChunkFacts]) -> Iterator[Copies]:
    """Pairs of chunks of a page of which one has most of the other's part of the page."""
    placed = sorted((*chunk.stretch, chunk.point_id) for chunk in chunks if chunk.stretch is not None)
    for number, (begin, end, name) in enumerate(placed):
        for other_begin, other_end, other in placed[number + 1 :]:
            if other_begin >= end:
                break
            if min(end, other_end) - other_begin > MOST * min(end - begin, other_end - other_begin):
                yield Copies((name, other))


def partition_of(copies: Sequence[Copies], labels: Labels) -> Partition | None:
    """The field that parts most copies, of which each value has several pages; that with the fewest values of several.

    A document has a value of its own, and a time tells ingestions apart.
    """
    found = []
    for path, values in _parting(copies, labels).items():
        pages: defaultdict[str, set[str]] = defaultdict(set)
        for point, value in values.items():
            if (page := labels.pages.get(point)) is not None:
                pages[value].add(page)
        used = {values[name] for group in copies for name in group.points if name in values}
        if all(len(pages[value]) > 1 for value in used):
            found.append(Partition(path, values))
    return min(found, key=lambda one: (len(set(one.values.values())), one.path), default=None)


def documents_of(copies: Sequence[Copies], labels: Labels) -> Partition | None:
    """The field that parts most copies, of which each value has several points, such as the id of a document."""
    found = []
    for path, values in _parting(copies, labels).items():
        counts: defaultdict[str, int] = defaultdict(int)
        for value in values.values():
            counts[value] += 1
        if 2 * len(counts) <= len(values):
            found.append(Partition(path, values))
    return min(found, key=lambda one: (-len(set(one.values.values())), one.path), default=None)


def _parting(copies: Sequence[Copies], labels: Labels) -> dict[str, Mapping[str, str]]:
    """The fields in which the members of most groups of copies differ from each other."""
    found = {}
    for path, values in labels.values.items():
        apart = sum(len({values.get(name) for name in each.points} - {None}) == len(each.points) for each in copies)
        if copies and apart >= MOST * len(copies) and not _are_times(values):
            found[path] = values
    return found


def _are_times(values: Mapping[str, str]) -> bool:
    distinct = set(values.values())
    return sum(parse_time(value) is not None for value in distinct) > MOST * len(distinct)
