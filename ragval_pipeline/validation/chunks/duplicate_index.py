"""Points that share page and chunk index, and which of them to keep."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from ragval_pipeline.findings.factory import LISTED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.duplicate_index import RULE as DUPLICATE_INDEX
from ragval_pipeline.rules.chunk.duplicate_index import Details
from ragval_pipeline.rules.details import read
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.ingested_twice import Basis, Stored, newest_of
from ragval_pipeline.validation.chunks.order import Number, PageOrder
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.groups import groups_of_pairs
from ragval_pipeline.validation.points import on_page
from ragval_pipeline.validation.thresholds import CLOCK_SKEW, MOST

#: The parts of its page in a chunk, as (start, end) letters, end exclusive.
Shape = tuple[tuple[int, int], ...]


def stretches(
    chunks: Sequence[ChunkFacts], groups: Mapping[Number, Collection[str]], texts: Mapping[str, int]
) -> dict[str, Hashable]:
    """A number for the content of some points, by id: equal for the same part of the page, or the same text.

    Empty if most of the points have the content of a point with another number: then the page is partly stored twice in
    other chunks, and the numbers are meaningless. ``chunks`` are those of one page and depth, ``texts`` numbers the
    texts of points without a position of their own.
    """
    # Repeated text of the page has no known position: it is identified by its text.
    shapes: dict[str, Shape] = {chunk.point_id: tuple(chunk.spans) for chunk in chunks if not chunk.repeated}
    numbers: dict[Shape, set[int | None]] = defaultdict(set)
    for chunk in chunks:
        if shapes.get(chunk.point_id):
            numbers[shapes[chunk.point_id]].add(chunk.chunk_index)
    within: dict[Shape, set[Shape]] = {shape: {shape} for shape in numbers}
    for shape, holder in _contained(list(numbers)):
        within[shape].add(holder)
    names = [(index, name) for (index, _), group in groups.items() for name in group]
    elsewhere = sum(
        any(numbers[holder] - {index} for holder in within.get(shapes.get(name, ()), ())) for index, name in names
    )
    if elsewhere >= MOST * len(names):
        return {}
    shape_of: dict[str, Hashable] = {}
    for group in groups.values():
        first = _joined({shapes[name] for name in group if shapes.get(name)}, within)
        shape_of |= {name: first.get(shapes.get(name, ()), texts.get(name, name)) for name in group}
    return shape_of


def _contained(shapes: Sequence[Shape]) -> Iterator[tuple[Shape, Shape]]:
    """Shapes mostly contained in another one, with that one."""
    shared: Counter[tuple[int, int]] = Counter()
    reach: list[tuple[int, int]] = []
    for first, end, number in sorted((*span, number) for number, shape in enumerate(shapes) for span in shape):
        reach = [entry for entry in reach if entry[0] > first]
        for other_end, other in reach:
            if other != number:
                shared[min(number, other), max(number, other)] += min(end, other_end) - first
        reach.append((end, number))
    for (one, two), letters in shared.items():
        for held, holder in ((shapes[one], shapes[two]), (shapes[two], shapes[one])):
            if letters > MOST * sum(end - first for first, end in held):
                yield held, holder


def _joined(shapes: Collection[Shape], within: Mapping[Shape, Collection[Shape]]) -> dict[Shape, Shape]:
    """For each of some shapes, the first of its connected shapes."""
    known = frozenset(shapes)
    pairs = ((shape, holder) for shape in known for holder in within[shape] if holder in known)
    return {shape: group[0] for group in groups_of_pairs(pairs) for shape in group}


_TOLD = {"page": "pages", "date": "times of embedding", "model": "models", "id": "ids"}
_SURPLUS = "Delete the surplus points of each group, identified by their {}: see delete_point_ids in remediation.json."
_IDS = "Derive ids from URL and index, so that an ingestion overwrites what it wrote before."
_REPEATS = (
    "The numbering repeats: it starts again within a page, for example at each section, or points have the payload "
    "fields of another point."
)
_RENUMBER = (
    "Number the chunks of a page in page order, and re-ingest the pages under reingest_urls in remediation.json. "
    "Delete old points that this leaves."
)

#: Points with the same number, by it and by page key.
_Shared = Mapping[str, Mapping[Number, Sequence[str]]]


@detector(DUPLICATE_INDEX, needs=ChunkEvidence)
def find_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points that share page and index, and which of them to keep, if known: one whose text is unchanged on the page.

    Chunks of different parent chunks are numbered within each. Those with different parts of their page are not copies
    of each other: only their numbers are wrong.
    """
    orders = evidence.orders
    pages = orders.in_full(orders.chosen(orders.points > orders.indices))
    parts = {} if evidence.partition is None else evidence.partition.values
    shared = {
        key: {number: own for number, own in _numbered(page, parts) if len(own) > 1} for key, page in pages.items()
    }
    judge = _Judge.of(evidence, shared)
    subjects, bases_seen = list[Subject](), set[Basis | None]()
    for key, page in pages.items():
        for number, names in shared[key].items():
            index, dates = number[0], dict(page.points[number[0]])
            judged, bases = judge.group({name: Stored(dates[name], page.models.get(name)) for name in sorted(names)})
            bases_seen |= bases
            strangers = judge.strangers(names)
            for name in names:
                known = judged.get(name, _Judged())
                others = _others(name, sorted(names))
                details = Details(index, others, dates[name], known.same, known.older, known.told_by)
                unbroken = {Aspect.PLACE: not strangers, Aspect.LATEST: not known.older}
                without = frozenset(aspect for aspect, holds in unbroken.items() if holds)
                subject = Subject(name, on_page(page.url, details), page=key, points=strangers, without=without)
                # One that only shares a number is no copy.
                copies = tuple(others if known.same is None else known.same)
                outdated = known.told_by == "page" and bool(known.older)
                subjects.append(replace(subject, copies=copies, is_outdated=outdated))
    if subjects:
        yield _duplicates(subjects, sum(map(len, shared.values())), bases_seen)


def _numbered(page: PageOrder, parts: Mapping[str, str]) -> Iterator[tuple[Number, list[str]]]:
    """The points with each number, within their parent and their partition."""
    for (index, parent), names in page.numbered():
        found: dict[str | None, list[str]] = {}
        for name in names:
            found.setdefault(parts.get(name), []).append(name)
        for value, own in found.items():
            yield (index, parent if value is None else f"{parent} {value}"), own


class _Judged(NamedTuple):
    """What is known of one point: see ``Details``."""

    same: list[str] | None = None
    older: bool | None = None
    told_by: Basis | None = None


@dataclass(frozen=True)
class _Judge:
    """Decides which points with the same page and index are copies, and which of them stays.

    Attributes:
        gone: Points whose text is gone from the page.
        drifted: Points whose text differs from the page.
        misplaced: Of those gone, the points whose text is on another page.
        held: The points' parts of their page, where known.
        model: The queries' model.
    """

    gone: Collection[str]
    drifted: Collection[str]
    misplaced: Collection[str]
    held: Mapping[str, Hashable]
    model: str | None

    @classmethod
    def of(cls, evidence: ChunkEvidence, shared: _Shared) -> _Judge:
        """Look up the points that share a number."""
        sharing = {name for by_index in shared.values() for names in by_index.values() for name in names}
        gone = evidence.differing(sharing, "gone")
        held = _held(evidence, shared, gone.keys())
        drifted = evidence.differing(sharing, "drifted")
        return cls(gone, drifted, evidence.misplaced(gone), held, evidence.limits.model)

    def group(self, stored: Mapping[str, Stored]) -> tuple[dict[str, _Judged], set[Basis | None]]:
        """What is known of points with the same page and index: their copies, unless all are, and which are older.

        Returns:
            By point, and the evidence used; None among it: for some it is not known which are older.
        """
        on_page = [name for name in stored if name not in self.gone]
        strays = {name for name in stored if name in self.gone and name not in self.misplaced} if on_page else set()
        judged = {name: _Judged(older=True, told_by="page") for name in strays}
        bases: set[Basis | None] = {"page"} if strays else set()
        kept = [name for name in stored if name not in strays]
        groups = self._alike(kept)
        if groups is None:
            groups = [kept]
        else:
            judged |= {name: _Judged(_others(name, copies)) for copies in groups for name in copies}
            groups = [copies for copies in groups if len(copies) > 1]
        for copies in groups:
            for names, older, basis in self._aged(copies, stored):
                bases.add(basis)
                for name in names if basis is not None else ():
                    judged[name] = judged.get(name, _Judged())._replace(older=name in older, told_by=basis)
        return judged, bases

    def _aged(
        self, copies: Sequence[str], stored: Mapping[str, Stored]
    ) -> Iterator[tuple[Sequence[str], Collection[str], Basis | None]]:
        """The points judged, those of them that are older, and by what; None: not known."""
        # An unchanged text was stored from the current page.
        whole = [name for name in copies if name not in self.drifted]
        if 0 < len(whole) < len(copies):
            yield copies, self.drifted, "page"
            if len(whole) == 1:
                return
        left = whole or copies
        if len(left) == 1:
            yield left, (), "page"
            return
        stays, basis = newest_of({name: stored[name] for name in left}, model=self.model) or (None, None)
        yield left, {*left} - {stays}, basis

    def strangers(self, names: Sequence[str]) -> tuple[str, ...]:
        """The points with the texts of other pages, if the number would be unique without them."""
        elsewhere = sorted(name for name in names if name in self.misplaced)
        return tuple(elsewhere) if len(names) - len(elsewhere) <= 1 else ()

    def _alike(self, own: Sequence[str]) -> list[list[str]] | None:
        """Points with the same number by their part of the page; None if unknown for some."""
        of_page = [name for name in own if name not in self.misplaced]
        if len(own) < 2 or (len(of_page) > 1 and not all(name in self.held for name in of_page)):
            return None
        found: dict[Hashable, list[str]] = {}
        for name in own:
            found.setdefault(self.held.get(name, name), []).append(name)
        return list(found.values())


def _held(evidence: ChunkEvidence, shared: _Shared, gone: Collection[str]) -> dict[str, Hashable]:
    """The parts of their page that points have, for pages that are not stored twice; by page and shared number."""
    keys = {key for key, by_index in shared.items() if by_index and key not in evidence.ingested_twice}
    if not keys:
        return {}
    copies = evidence.same_texts
    texts = {
        ref.point_id: digest for digest, refs in copies.groups.items() for ref in refs if ref.point_id in copies.copies
    }
    text_of: dict[str, Hashable] = {}
    for key, chunks in evidence.on_pages(keys):
        for depth in sorted({chunk.depth for chunk in chunks}):
            same_depth = [chunk for chunk in chunks if chunk.depth == depth]
            known = {chunk.point_id for chunk in same_depth} - set(gone)
            groups = {number: [name for name in names if name in known] for number, names in shared[key].items()}
            text_of |= stretches(same_depth, groups, texts)
    return text_of


def _others(point_id: str, names: Sequence[str]) -> list[str]:
    return list(islice((name for name in names if name != point_id), LISTED))


def _duplicates(subjects: Sequence[Subject], groups: int, told: Collection[Basis | None]) -> Finding:
    message = f"{len(subjects):,} points share page and chunk index, in {plural(groups, 'group')}"
    repeats = sum(read(Details, subject.details).same == [] for subject in subjects)
    if not repeats:
        message, cause, remedy = f"{message}.", None, _surplus(told)
    elif repeats == len(subjects):
        message, cause = f"{message}. None of them is stored twice.", _REPEATS
        remedy = f"{_RENUMBER} None of these points is a copy to delete."
    else:
        message = f"{message}. {repeats} of them {'is' if repeats == 1 else 'are'} not stored twice."
        cause = DUPLICATE_INDEX.cause
        if not _are_of_several_ingestions(subjects):
            cause = f"{cause} Elsewhere: {_REPEATS[0].lower()}{_REPEATS[1:]}"
        surplus = _surplus(told) or DUPLICATE_INDEX.remedy
        remedy = f"{surplus} {_RENUMBER} No other points are copies to delete."
    details = {"groups": groups} | ({"repeats": repeats} if repeats else {})
    finding = make_finding(DUPLICATE_INDEX.code, subjects, details=details, message=message, cause=cause, remedy=remedy)
    # If nothing is stored twice, wrong numbers do not change any search result.
    return finding.model_copy(update={"severity": "warning"}) if repeats == len(subjects) else finding


def _are_of_several_ingestions(subjects: Sequence[Subject]) -> bool:
    """Whether each point that only shares a number was embedded at another time than one that it shares it with.

    Within one ingestion the numbering may begin again; the next version of a page is numbered from the start.
    """
    points = {subject.name: read(Details, subject.details) for subject in subjects}
    times = {name: parse_time(point.embedded_at) for name, point in points.items()}

    def is_apart(name: str) -> bool:
        own = times[name]
        others = [times.get(other) for other in points[name].others]
        return own is not None and any(other is not None and abs(own - other) > CLOCK_SKEW for other in others)

    return all(is_apart(name) for name, point in points.items() if point.same == [])


def _surplus(told: Collection[Basis | None]) -> str | None:
    if None in told:
        return None
    return f"{_SURPLUS.format(' and '.join(_TOLD[basis] for basis in sorted(filter(None, told))))} {_IDS}"
