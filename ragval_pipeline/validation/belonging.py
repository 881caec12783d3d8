"""Which partition a point, a page, a query or a finding belongs to, so that criteria can be counted for each."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.measurement import MeasuredValue

#: Name of the partition's field in the snapshot's column ``extra``.
PARTITION = "qdrant.partition_by"
#: Columns of the snapshot that are read.
COLUMNS = ("point_id", "page_key", "page_url", "source_url", "text_sha256", "extra")
#: Partitions that are judged, those with the most points first: a report has some 20 values of each.
MOST_JUDGED = 500  # work

#: A text that reads like a number or a truth value, in quotes.
_QUOTED = re.compile(r'"(?:-?[0-9][0-9.eE+-]*|true|false)"')

#: A value that a filter for equality can ask for.
FilterValue = str | int | bool
ItemT = TypeVar("ItemT")
#: Values of criteria by partition.
ByPartition = dict[str, tuple[MeasuredValue, ...]]


class Tagged(NamedTuple):
    """A point and its partition.

    Attributes:
        point_id: Its id as text.
        page_key: Canonical form of its page; None: it names none.
        page_url: Its page as in the sitemap, else as stored.
        text: Hash of its text.
        tags: Its partitions as text: several if the field is a list, none if it has no value to filter by.
    """

    point_id: str
    page_key: str | None
    page_url: str | None
    text: str | None
    tags: tuple[str, ...]


def tagged_points(rows: Iterable[Mapping[str, Any]]) -> list[Tagged]:
    """The points of a snapshot that was taken with the field ``PARTITION``, from rows with ``COLUMNS``.

    A filter for equality finds no objects and nothing in lists of lists: such values are no partitions. It tells ``1``
    from ``"1"``: a text that reads like another value of the field is in quotes.
    """
    read = [
        (
            Tagged(row["point_id"], row["page_key"], row["page_url"] or row["source_url"], row["text_sha256"], ()),
            _values(row["extra"]),
        )
        for row in rows
    ]
    others = {_text(each) for _, values in read for each in values if not isinstance(each, str)}
    return [
        point._replace(tags=tuple(dict.fromkeys(_text(each, others) for each in values))) if values else point
        for point, values in read
    ]


def filter_values(rows: Iterable[Mapping[str, Any]]) -> dict[str, FilterValue]:
    """What a filter asks for to get each partition, from rows with ``extra``; fractions cannot be asked for."""
    held = {json.dumps(each): each for row in rows for each in _values(row["extra"]) if not isinstance(each, float)}
    others = {_text(each) for each in held.values() if not isinstance(each, str)}
    return {_text(each, others): each for each in held.values()}


def _values(extra: str | None) -> list[Any]:
    return partitions_in(json.loads(extra).get(PARTITION) if extra else None)


def partitions_in(value: Any) -> list[Any]:
    """The partitions that a value of the field names: several if it is a list, none if no filter can ask for it."""
    return [each for each in (value if isinstance(value, list) else [value]) if _is_partition(each)]


def _is_partition(value: Any) -> bool:
    return not is_blank(value) if isinstance(value, str) else isinstance(value, bool | int | float)


def _text(value: Any, others: Collection[str] = ()) -> str:
    """A value as text; ``others`` are the texts of those that are none themselves."""
    return value if isinstance(value, str) and value not in others else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Partitions:
    """The partitions of a collection.

    Attributes:
        path: The payload field that holds them.
        points: The partitions of each point that has any, by point id.
        pages: The partitions of each page with such points, by canonical form.
        queries: The partitions of each query that is in any, by query id.
    """

    path: str
    points: Mapping[str, tuple[str, ...]]
    pages: Mapping[str, frozenset[str]]
    queries: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        path: str,
        tagged: Iterable[Tagged],
        expected: Mapping[str, Iterable[str]] | None = None,
        filters: Mapping[str, Mapping[str, Any] | None] | None = None,
    ) -> Partitions:
        """The partitions of all points, and of queries by their filters, else by the pages that they expect.

        ``expected`` are the canonical forms of these pages, ``filters`` the payload values, by query id.
        """
        points: dict[str, tuple[str, ...]] = {}
        pages: defaultdict[str, set[str]] = defaultdict(set)
        same: dict[tuple[str, ...], tuple[str, ...]] = {}  # share the few distinct values
        for point in tagged:
            if point.tags:
                points[point.point_id] = same.setdefault(point.tags, point.tags)
                if point.page_key is not None:
                    pages[point.page_key].update(point.tags)
        found = cls(path, points, {key: frozenset(values) for key, values in pages.items()})
        queries = {
            query: frozenset(value for page in keys for value in found.of_page(page))
            for query, keys in (expected or {}).items()
        }
        given = {query: values[path] for query, values in (filters or {}).items() if values and path in values}
        quoted = {json.loads(tag) for tags in same for tag in tags if _QUOTED.fullmatch(tag)}
        chosen = {query: frozenset([_text(value, quoted)]) for query, value in given.items()}
        return replace(found, queries={**queries, **chosen})

    @cached_property
    def joined(self) -> Mapping[str, str]:
        """The partitions of each point as one text, by point id."""
        return {name: "\n".join(values) for name, values in self.points.items()}

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Number of points of each partition that is judged, by descending number."""
        counts: Counter[str] = Counter()
        for values, count in Counter(self.points.values()).items():
            counts.update(dict.fromkeys(values, count))
        ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        return dict(ordered[:MOST_JUDGED])

    def of_point(self, name: str) -> Collection[str]:
        """The partitions of a point; none without a value of the field."""
        return self.points.get(name, ())

    def of_page(self, key: str) -> Collection[str]:
        """The partitions of a page: those of its points; of a page without any, the one that its folder is in."""
        return self.pages.get(key) or self._of_folder(key)

    def _of_folder(self, key: str) -> Collection[str]:
        """The only partition in the nearest folder of a page that has any; none if there are several."""
        values = next((self._folders[folder] for folder in folders_of(key) if folder in self._folders), frozenset())
        return values if len(values) == 1 else ()

    @cached_property
    def _folders(self) -> Mapping[str, frozenset[str]]:
        """The partitions of the pages in each folder."""
        found: dict[str, frozenset[str]] = {}
        for key, values in self.pages.items():
            for folder in folders_of(key):
                known = found.get(folder, frozenset())
                found[folder] = known if values <= known else known | values
        return found

    def of_query(self, name: str) -> Collection[str]:
        """The partitions of a query, by its id: its filter's, else those of the pages that it expects, if any."""
        return self.queries.get(name, ())

    def of_subject(self, subject: Subject, kind: str) -> Collection[str] | None:
        """The partitions of a finding's subject; None: it is about the collection as a whole."""
        if kind == "point":
            return self.of_point(subject.name)
        if kind == "query":
            return self.of_query(subject.name)
        return self.of_page(subject.page) if kind in {"page", "url"} and subject.page is not None else None

    def concerns(self, finding: Finding, value: str) -> bool:
        """Whether any subject of a finding is in a partition, or is about the whole collection."""
        return not finding.subjects or bool(self.subjects_in(finding, value))

    def subjects_in(self, finding: Finding, value: str) -> tuple[Subject, ...]:
        """The subjects of a finding that are in a partition, or about the whole collection."""
        of = ((subject, self.of_subject(subject, finding.subject_kind)) for subject in finding.subjects)
        return tuple(subject for subject, values in of if values is None or value in values)

    def grouped(self, items: Iterable[ItemT], of: Callable[[ItemT], Iterable[str]]) -> dict[str, list[ItemT]]:
        """Items by partition, for every partition that is judged; an item may be in none, or in several."""
        groups: dict[str, list[ItemT]] = {value: [] for value in self.sizes}
        for item in items:
            for value in of(item):
                if value in groups:
                    groups[value].append(item)
        return groups


def folders_of(key: str) -> Iterator[str]:
    """The folders that the canonical form of an address is in, the deepest first, its host last."""
    head, mark, _ = key.rstrip("/").rpartition("/")
    while mark and not head.endswith(("/", ":")):
        yield head
        head, mark, _ = head.rpartition("/")
