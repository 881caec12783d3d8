"""The two sides of a cause: what a subject is measured by, and what a finding makes wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ragval_pipeline.findings.catalogue import CATALOGUE, ORDER
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import OF_A_FIELD, OF_ADDRESSES, OF_POINTS, OF_THE_WHOLE, Aspect
from ragval_pipeline.rules.rule import SEVERITIES

#: An aspect, with its field for field-level aspects.
Key = tuple[Aspect, str]

_COLLECTION = "collection"
#: Kinds of subjects that are about every point; a URL is that of the sitemap, or of a host of all pages.
_ABOUT_ALL = frozenset({"collection", "field", "url"})
#: A cause that accounts for more than this share of a surplus explains it.
_MOST = 0.5  # definition
#: Shares that differ by less are considered equal.
_EQUAL = 1e-9  # definition


@dataclass(frozen=True)
class Site:
    """What is known about pages besides the findings.

    Attributes:
        pages_of: Keys of the in-scope pages of each module, by the module's name as in subjects.
        moved: For each page that lacks something, the pages and points that hold its text under another address or
            none.
    """

    pages_of: Mapping[str, Iterable[str]] = field(default_factory=dict)
    moved: Mapping[str, Iterable[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """What one subject reads: aspects, on its own entities, on their containers, and on text stored elsewhere."""

    keys: frozenset[Key]
    own: frozenset[str]
    around: frozenset[str]
    elsewhere: frozenset[str]
    queries: frozenset[str]
    points: frozenset[str]
    words: int | None
    surplus: float | None
    fell: float | None
    is_page: bool

    def only(self, aspects: frozenset[Aspect]) -> Reading:
        """The same for some aspects."""
        return replace(self, keys=frozenset(key for key in self.keys if key[0] in aspects))


def readings(subject: Subject, finding: Finding, site: Site, indices: frozenset[int]) -> list[Reading]:
    """The aspects and entities that a subject is measured by, for each condition that it missed."""
    kind, page = finding.subject_kind, subject.page
    queries = frozenset(_named("query", (subject.name,) if kind == "query" else subject.queries))
    points = frozenset(_named("point", subject.points))
    pages = [*subject.pages, *(site.pages_of.get(subject.module, ()) if subject.module else ())]
    entities = {*queries, *points, *_named("page", pages), *_identity(kind, subject)}
    entities.update(_named("index", indices.intersection(subject.indices)))
    moved = list(site.moved.get(page or "", ())) if kind == "page" else []
    row = CATALOGUE[finding.code]
    reads = frozenset(row.reads - subject.without)
    every = Reading(
        keys=_keys(reads, row.fields or subject.fields),
        own=frozenset(entities),
        around=frozenset({_COLLECTION, *_named("page", (page,) if kind == "point" and page else ())}),
        elsewhere=frozenset((*_named("page", moved), *_named("point", moved))),
        queries=queries,
        points=points if kind == "query" else frozenset(),
        words=subject.words,
        surplus=subject.surplus,
        fell=subject.fell,
        is_page=kind == "page",
    )
    return [replace(every, keys=_keys(reads & need.aspects, need.fields)) for need in subject.needs] or [every]


class Cause:
    """One finding as a possible cause of others."""

    def __init__(self, finding: Finding, indices: frozenset[int]) -> None:
        row = CATALOGUE[finding.code]
        self.code, self.reach = finding.code, finding.reach or 0.0
        self.rank = (SEVERITIES.index(finding.severity), -self.reach, ORDER[finding.code])
        self._parts: dict[frozenset[Key], tuple[set[str], set[str]]] = {}
        self._words: dict[str, int] = {}
        self._beside: dict[str, float] = {}
        self._about: set[str] = set()
        single = frozenset(row.breaks - OF_THE_WHOLE.keys() - {Aspect.VALUE})
        wide = {aspect for aspect, share in OF_THE_WHOLE.items() if self.reach >= share}
        for subject in finding.subjects:
            about = {*_identity(finding.subject_kind, subject), *_named("index", indices.intersection(subject.indices))}
            if finding.subject_kind in {"host", "page"}:
                about.update(_named("page", subject.pages))
            around = set(_named("page", (subject.page,) if finding.subject_kind == "point" and subject.page else ()))
            self._about |= about | around
            keys = _keys(single - subject.without, row.fields or subject.fields)
            own, inside = self._parts.setdefault(keys, (set(), set()))
            if single <= OF_POINTS:
                own.update(_named("point", subject.points))
                self._beside.update(zip(_named("point", subject.points), subject.beside, strict=False))
                continue
            own |= about
            inside |= around
            if finding.subject_kind == "point" and subject.words is not None:
                self._words[f"point {subject.name}"] = subject.words
        # Some points or pages of many may be wrong; a setting or a collection is a single thing.
        some = finding.subject_kind in {"point", "page"}
        whole = frozenset((aspect, "") for aspect in row.breaks & OF_THE_WHOLE.keys() if not some or aspect in wide)
        if whole:
            self._parts[whole] = ({_COLLECTION}, set())
        if row.lowers:
            self._parts[_keys(frozenset({Aspect.VALUE}), ())] = ({*_named("criterion", row.lowers)}, set())

    @property
    def is_info(self) -> bool:
        """Whether it is informational only."""
        return SEVERITIES[self.rank[0]] == "info"

    def accounts_for(self, fell: float) -> bool:
        """Whether this alone can have lowered a value by so much."""
        return self.reach >= fell - _EQUAL

    def is_grave_enough(self, finding: Finding) -> bool:
        """Whether a finding of this severity can cause the other at all."""
        return not self.is_info or finding.severity != "error"

    def is_about(self, read: Reading) -> bool:
        """Whether both are about the same point, page, query or collection."""
        return not self._about.isdisjoint(read.own | read.around | read.elsewhere)

    def explains(self, read: Reading) -> bool:
        """Whether a subject reads what this breaks, on a shared entity, or anywhere if a ranking is involved."""
        shared = {keys: keys & read.keys for keys in self._parts}
        if read.fell is not None and any(aspect != Aspect.VALUE for keys in shared.values() for aspect, _ in keys):
            return True
        return any(self._meets(shared[keys], *part, read) for keys, part in self._parts.items())

    def _meets(self, keys: frozenset[Key], own: set[str], inside: set[str], read: Reading) -> bool:
        if not keys:
            return False
        if not read.around.isdisjoint(own):
            return True
        aspects = {aspect for aspect, _ in keys}
        about = read.own | read.elsewhere if not OF_ADDRESSES.isdisjoint(aspects) else read.own
        if read.is_page and aspects == {Aspect.PLACE}:
            # The page's missing text is elsewhere; a foreign text under its address is not the reason.
            about = read.elsewhere
        shared = {entity for entity in about if entity in own or entity in inside}
        return bool(shared) and self._is_enough(aspects, shared, read)

    def _is_enough(self, aspects: set[Aspect], shared: set[str], read: Reading) -> bool:
        """Whether the amount can explain the subject: four aspects matter by their share."""
        if aspects == {Aspect.COPIES} and read.points:
            # One copy takes no more ranks in a result than any other chunk.
            return len(shared & read.points) > 1
        if aspects == {Aspect.ANSWER}:
            # These findings explain a lower mean only if they explain each query that lowers it.
            return read.queries <= shared
        if aspects == {Aspect.FRAME}:
            # A few extra words do not explain an entirely different text.
            return read.words is not None and all(read.words <= self._words.get(entity, 0) for entity in shared)
        if aspects <= OF_POINTS and read.surplus is not None:
            # A surplus count is about the chunk's own lost text, not a passage next to it, if that is most of it.
            return all(self._beside.get(entity, read.surplus) >= _MOST * read.surplus for entity in shared)
        return True


@lru_cache(maxsize=1024)
def _keys(aspects: frozenset[Aspect], fields: tuple[str, ...]) -> frozenset[Key]:
    """Aspects; field-level ones once per field."""
    return frozenset((aspect, name) for aspect in aspects for name in (fields if aspect in OF_A_FIELD else ("",)))


def _identity(kind: str, subject: Subject) -> Iterator[str]:
    """The entity that a subject is."""
    if kind == "page":
        yield f"page {subject.page or subject.name}"
    elif kind == "metric":
        yield f"criterion {subject.name}"
    elif kind in {"point", "query"}:
        yield f"{kind} {subject.name}"
    elif kind in _ABOUT_ALL:
        yield _COLLECTION
    yield from (f"threshold {threshold:.9g}" for threshold in subject.thresholds)


def _named(kind: str, names: Iterable[object]) -> Iterator[str]:
    return (f"{kind} {name}" for name in names)


def matched_indices(findings: Iterable[Finding]) -> frozenset[int]:
    """Chunk indices of points without a known page, as many as there are pages that lack that index.

    Which page a point belongs to is not known; if there are fewer such points than pages, some pages lack theirs for
    another reason.
    """
    strays: dict[str, tuple[int, ...]] = {}
    lacking: Counter[int] = Counter()
    for finding in findings:
        for subject in finding.subjects:
            if subject.indices and finding.subject_kind == "point":
                strays[subject.name] = subject.indices  # a point that lacks several fields counts once
            elif subject.indices:
                lacking.update(subject.indices)
    lost = Counter(index for indices in strays.values() for index in indices)
    return frozenset(index for index, pages in lacking.items() if lost[index] >= pages)
