"""The pages that the points name: their titles, headings, and the pages that answer almost the same questions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, NamedTuple

from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.urls import path_of, without_fragment
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.text.display import one_line
from ragval_pipeline.validation.belonging import FilterValue
from ragval_pipeline.validation.editions import kind_of, versions_of
from ragval_pipeline.validation.first_look.points import Look, value_of
from ragval_pipeline.validation.first_look.tenants import PartedBy
from ragval_pipeline.validation.self_retrieval.names import own_titles, shared_parts

#: Maximum pages listed that answer almost the same questions.
_LISTED = 20
_WORD = re.compile(r"\w")
#: Words of a first line that may be a title.
_TITLE_WORDS = 12
_MARKDOWN = re.compile(r"^#{1,4}\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class DraftPage:
    """One page, or one point if points have no page.

    Attributes:
        url: As stored; None if the points have none.
        title: Its title.
        point: One of its points.
        text: Text of that point.
        module: Its module, or None.
        headings: Headings in its points' payload or Markdown.
        points: Number of its points, in all versions.
        twins: Addresses of the same page in other versions of the documentation.
        texts: The texts of its points, in order.
        others: Addresses of the same page in other languages, and of pages of this title of other tenants; of those
            that have the same address, the id of a point. At most 20.
        filter: The payload value of its tenant, which a search for it filters by; empty without tenants.
        among: Number of points that pass this filter.
    """

    url: str | None
    title: str
    point: Point
    text: str
    module: str | None
    headings: tuple[str, ...] = ()
    points: int = 1
    twins: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    filter: Mapping[str, FilterValue] = field(default_factory=dict)
    among: int = 1


class _Key(NamedTuple):
    """A page: the value of its tenant, if there are several, and its address, or the id of a point without any."""

    tenant: tuple[FilterValue, ...]
    address: str


def pages_of(look: Look, fields: Mapping[str, str], parted: PartedBy | None = None) -> list[DraftPage]:
    """Every page with a title, ordered by address.

    Args:
        look: The points.
        fields: Payload names by canonical name.
        parted: The field that parts tenants; None: there are none.
    """
    firsts: dict[_Key, Point] = {}
    stored: dict[_Key, Mapping[str, Any]] = {}
    counts, among = Counter[_Key](), Counter[tuple[FilterValue, ...]]()
    headings: dict[_Key, dict[str, None]] = {}
    texts: dict[_Key, list[str]] = {}
    read = [(point, {name: value_of(point, path) for name, path in fields.items()}) for point in look.points]
    for point, values in sorted(read, key=lambda entry: _index(entry[1])):
        url, tenant = values.get("source_url"), () if parted is None else tuple(parted.filter_of(point).values())
        key = _Key(tenant, without_fragment(url) if isinstance(url, str) else point.id)
        firsts.setdefault(key, point)
        stored.setdefault(key, values)
        counts[key] += 1
        among[tenant] += 1
        texts.setdefault(key, []).append(str(values.get("text") or ""))
        headings.setdefault(key, {}).update(dict.fromkeys(_headings_in(values)))
    named = {key: _title(values) for key, values in stored.items()}
    titles: dict[_Key, str] = {}
    for _, keys in groupby(sorted(named, key=lambda key: repr(key.tenant)), key=lambda key: repr(key.tenant)):
        own = {key: named[key] for key in keys}
        titles.update(own_titles(own, shared_parts([title] for title in own.values())))
    places = versions_of(key.address for key, point in firsts.items() if key.address != point.id)
    beside = _Beside(titles, {key: places.get(key.address, key.address) for key in titles})
    found = [
        DraftPage(
            url=None if key.address == firsts[key].id else key.address,
            title=titles[key],
            point=firsts[key],
            text=str(stored[key].get("text") or ""),
            module=str(module) if isinstance(module := stored[key].get("module"), str | int) else None,
            headings=tuple(headings[key]),
            points=sum(counts[each] for each in (key, *twins)),
            twins=tuple(twin.address for twin in twins),
            texts=tuple(texts[key]),
            others=tuple(
                firsts[other].id if other.address == key.address else other.address
                for other in islice(beside.others(key), _LISTED)
            ),
            filter={} if parted is None else parted.filter_of(firsts[key]),
            among=among[key.tenant] if key.tenant else among.total(),
        )
        for key, *twins in beside.versions.values()
        if _WORD.search(titles[key])
    ]
    return sorted(found, key=lambda page: (page.url or page.point.id, *map(str, page.filter.values())))


class _Beside:
    """Which pages answer almost the same questions.

    Attributes:
        versions: The pages of one tenant that are versions of each other, the one with the shortest address first.
    """

    def __init__(self, titles: Mapping[_Key, str], places: Mapping[_Key, Hashable]) -> None:
        """``places`` are the addresses without the folders of versions."""
        self._titles, self._places = {key: title.casefold() for key, title in titles.items()}, places
        self.versions: dict[tuple[Hashable, ...], list[_Key]] = {}
        self._titled: defaultdict[str, list[_Key]] = defaultdict(list)
        self._placed: defaultdict[tuple[Hashable, ...], list[_Key]] = defaultdict(list)
        self._called: defaultdict[tuple[Hashable, ...], set[Hashable]] = defaultdict(set)
        for key in sorted(titles, key=lambda key: (len(key.address), key.address)):
            title, place = self._titles[key], places[key]
            self.versions.setdefault((title, place, key.tenant), []).append(key)
            self._titled[title].append(key)
            self._placed[place, key.tenant].append(key)
            self._called[title, key.tenant].add(place)

    def others(self, key: _Key) -> Iterator[_Key]:
        """The page in other languages, and the pages of its title of other tenants."""
        title, place = self._titles[key], self._places[key]
        for other in self._placed[place, key.tenant]:
            if _is_in_another_language(key.address, other.address):
                yield other
        is_name = len(self._called[title, key.tenant]) == 1
        for other in self._titled[title] if key.tenant else ():
            if other.tenant and other.tenant != key.tenant and (is_name or self._places[other] == place):
                yield other


def _is_in_another_language(url: str, other: str) -> bool:
    """Whether two addresses of a page differ in the folder of a language, which one of them may lack."""
    one, two = ([part for part in path_of(address).split("/") if part] for address in (url, other))
    folders = [part for part in (*one, *two) if (part in one) != (part in two)]
    return 0 < len(folders) < 3 and all(kind_of(folder) == "language" for folder in folders)


def _headings_in(values: Mapping[str, Any]) -> list[str]:
    """The last heading of the point's path, and Markdown headings of its text."""
    path, text = values.get("headings"), values.get("text")
    named = [path] if isinstance(path, str) else path[-1:] if isinstance(path, list) else []
    found = _MARKDOWN.findall(text) if isinstance(text, str) else []
    return [name for name in (*named, *found) if isinstance(name, str)]


def _title(values: Mapping[str, Any]) -> str:
    """Its title, else its first heading, else the end of its address, else the beginning of its text."""
    headings, url = values.get("headings"), values.get("source_url")
    candidates = (
        values.get("title"),
        headings[0] if isinstance(headings, list) else headings,
        _words_of(url) if isinstance(url, str) else None,
        _beginning(values.get("text")),
    )
    return next((one_line(entry)[:200] for entry in candidates if isinstance(entry, str) and entry.strip()), "")


def _words_of(url: str) -> str:
    last = re.split(r"[\\/]", path_of(url).rstrip("/"))[-1]
    last = last.removesuffix(".html") if is_http_url(url) else last.rpartition(".")[0] or last
    return " ".join(re.split(r"[-_+]+", last))


def _beginning(text: Any) -> str | None:
    """The first line of a text, unless it is a sentence or part of one."""
    line = text.strip().partition("\n")[0].strip() if isinstance(text, str) else ""
    is_title = 0 < len(line.split()) <= _TITLE_WORDS and line[-1] not in ".,:;" and not line[0].islower()
    return line if is_title else None


def _index(values: Mapping[str, Any]) -> int:
    index = values.get("chunk_index")
    return index if isinstance(index, int) else 0
