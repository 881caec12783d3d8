"""Chunk indices that are duplicate, missing, or out of page order."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Aspect, Finding, Subject
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.newest import Basis, Stored, newest_of
from ragval_pipeline.validation.chunks.order import Number, Orders
from ragval_pipeline.validation.chunks.same_stretch import stretches
from ragval_pipeline.validation.chunks.stale_tail import stale_tails
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.integrity.content import class_of
from ragval_pipeline.validation.integrity.habits import Habits
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, CLOCK_SKEW, LONGEST_GAP, MOST, VERIFIED_FROM

#: A page that lost its first chunks has the same numbers as one counted from another start.
_LATE = "The first chunks were deleted or never written, or the chunks of these pages are not numbered from {first}."
_COUNTED = (
    "Re-ingest the URLs that integrity.not_captured also lists: their first chunks are lost. The others are "
    "complete: number their chunks from {first}, as on the other pages."
)

#: Maximum points with the same index, or missing indices, in a subject's details.
_LISTED = 100  # shown
_TOLD = {"page": "pages", "date": "times of embedding", "model": "models", "id": "ids"}
_SURPLUS = "Delete the surplus points of each group, identified by their {}: see delete_point_ids in remediation.json."
_IDS = "Derive ids from URL and index, so that an ingestion overwrites what it wrote before."
_REPEATS = (
    "The numbering repeats: it starts again within a page, for example at each section, or points have the payload "
    "fields of another point."
)
_RENUMBER = (
    "Number the chunks of a page in page order, delete the points of the pages under reingest_urls in "
    "remediation.json, and re-ingest these pages."
)


@detector("chunk.duplicate_index", needs=ChunkEvidence)
def find_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points that share page and index, and which of them to keep, if known: one whose text is unchanged on the page.

    Chunks of different parent chunks are numbered within each. Those with different parts of their page are not copies
    of each other: only their numbers are wrong.
    """
    subjects, groups = [], 0
    told: set[Basis | None] = set()
    orders = evidence.orders
    pages = orders.in_full(orders.chosen(orders.points > orders.indices))
    shared = {key: {number: [*own] for number, own in page.numbered() if len(own) > 1} for key, page in pages.items()}
    sharing = {name for by_index in shared.values() for names in by_index.values() for name in names}
    gone, drifted = evidence.gone(sharing), evidence.differing(sharing, "drifted")
    misplaced = evidence.misplaced(gone)
    held = _held(evidence, shared, gone.keys())
    for key, page in pages.items():
        for number, names in shared[key].items():
            groups += 1
            index, _ = number
            ids, dates = sorted(names), dict(page.points[index])
            on_page = [name for name in ids if name not in gone]
            strays = {name for name in ids if name in gone and name not in misplaced} if on_page else set()
            own = [name for name in ids if name not in strays]
            elsewhere = misplaced.intersection(ids)
            # Without the texts of other pages the number is unique.
            strangers = tuple(sorted(elsewhere)) if len(ids) - len(elsewhere) <= 1 else ()
            alike = _alike(own, misplaced, held)
            judged: dict[str, dict[str, Any]] = {name: {"older": True, "told_by": "page"} for name in strays}
            told.update({"page"} if strays else ())
            for copies in [own] if alike is None else alike:
                if alike is not None:
                    judged |= {name: {"same": _others(name, copies)} for name in copies}
                    if len(copies) == 1:
                        continue
                # An unchanged text was stored from the current page.
                whole = [name for name in copies if name not in drifted]
                if 0 < len(whole) < len(copies):
                    told.add("page")
                    for name in copies:
                        judged[name] = {**judged.get(name, {}), "older": name in drifted, "told_by": "page"}
                    if len(whole) == 1:
                        continue
                left = whole or copies
                stored = {name: Stored(dates[name], page.models.get(name)) for name in left}
                stays, basis = _kept(stored, model=evidence.limits.model) or (None, None)
                told.add(basis)
                for name in left if stays is not None else ():
                    judged[name] = {**judged.get(name, {}), "older": name != stays, "told_by": basis}
            for point_id in names:
                details = {"page_url": page.url, "chunk_index": index, "others": _others(point_id, ids)}
                details |= {"embedded_at": dates[point_id], **judged.get(point_id, {})}
                without = {Aspect.PLACE} if not strangers else set()
                if not judged.get(point_id, {}).get("older"):
                    without.add(Aspect.LATEST)
                subjects.append(Subject(point_id, details, page=key, points=strangers, without=frozenset(without)))
    if subjects:
        yield _duplicates(subjects, groups, told)


def _held(
    evidence: ChunkEvidence, shared: Mapping[str, Mapping[Number, Sequence[str]]], gone: Collection[str]
) -> dict[str, Hashable]:
    """The parts of their page that points have, for pages that are not stored twice; by page and shared number."""
    keys = {key for key, by_index in shared.items() if by_index and key not in evidence.layout.twice}
    if not keys:
        return {}
    copies = evidence.same_texts
    texts = {
        ref.point_id: digest for digest, refs in copies.groups.items() for ref in refs if ref.point_id in copies.copies
    }
    found: dict[str, Hashable] = {}
    for key, chunks in evidence.on_pages(keys):
        for depth in sorted({chunk.depth for chunk in chunks}):
            own = [chunk for chunk in chunks if chunk.depth == depth]
            known = {chunk.point_id for chunk in own} - set(gone)
            groups = {number: [name for name in names if name in known] for number, names in shared[key].items()}
            found |= stretches(own, groups, texts)
    return found


def _alike(own: Sequence[str], misplaced: Collection[str], held: Mapping[str, Hashable]) -> list[list[str]] | None:
    """Some points with the same number by their part of the page; None if unknown for some.

    Args:
        own: The points, without those gone from their page if others are not.
        misplaced: Points whose text is on another page.
        held: The points' parts of the page.
    """
    if len(own) < 2 or not all(name in held or name in misplaced for name in own):
        return None
    found: dict[Hashable, list[str]] = {}
    for name in own:
        found.setdefault(held.get(name, name), []).append(name)
    return list(found.values())


def _others(point_id: str, names: Sequence[str]) -> list[str]:
    return list(islice((name for name in names if name != point_id), _LISTED))


def _duplicates(subjects: Sequence[Subject], groups: int, told: Collection[Basis | None]) -> Finding:
    message = f"{len(subjects):,} points share page and chunk index, in {plural(groups, 'group')}"
    repeats = sum(subject.details.get("same") == [] for subject in subjects)
    if not repeats:
        message, cause, remedy = f"{message}.", None, _surplus(told)
    elif repeats == len(subjects):
        message, cause = f"{message}. None of them is stored twice.", _REPEATS
        remedy = f"{_RENUMBER} None of these points is a copy to delete."
    else:
        message = f"{message}. {repeats} of them {'is' if repeats == 1 else 'are'} not stored twice."
        cause = CATALOGUE["chunk.duplicate_index"].cause
        if not _are_of_several_ingestions(subjects):
            cause = f"{cause} Elsewhere: {_REPEATS[0].lower()}{_REPEATS[1:]}"
        surplus = _surplus(told) or CATALOGUE["chunk.duplicate_index"].remedy
        remedy = f"{surplus} {_RENUMBER} No other points are copies to delete."
    details = {"groups": groups} | ({"repeats": repeats} if repeats else {})
    found = make_finding(
        "chunk.duplicate_index", subjects, details=details, message=message, cause=cause, remedy=remedy
    )
    # If nothing is stored twice, wrong numbers do not change any search result.
    return found.model_copy(update={"severity": "warning"}) if repeats == len(subjects) else found


def _are_of_several_ingestions(subjects: Sequence[Subject]) -> bool:
    """Whether each point that only shares a number was embedded at another time than one that it shares it with.

    Within one ingestion the numbering may begin again; the next version of a page is numbered from the start.
    """
    times = {subject.name: parse_time(subject.details["embedded_at"]) for subject in subjects}

    def is_apart(subject: Subject) -> bool:
        own = times[subject.name]
        others = [times.get(name) for name in subject.details["others"]]
        return own is not None and any(other is not None and abs(own - other) > CLOCK_SKEW for other in others)

    return all(is_apart(subject) for subject in subjects if subject.details.get("same") == [])


def _surplus(told: Collection[Basis | None]) -> str | None:
    if None in told:
        return None
    return f"{_SURPLUS.format(' and '.join(_TOLD[basis] for basis in sorted(filter(None, told))))} {_IDS}"


def stored_again(finding: Finding) -> Finding:
    """The finding's groups without points that only share a number."""
    subjects = (
        replace(subject, details={**subject.details, "others": subject.details["same"]})
        if subject.details.get("same")
        else subject
        for subject in finding.subjects
        if subject.details.get("same") != []
    )
    return finding.model_copy(update={"subjects": tuple(subjects)})


def _kept(own: Mapping[str, Stored], *, model: str | None) -> tuple[str, Basis] | None:
    """The point to keep, of those not gone from their page if others are, and the evidence."""
    return (next(iter(own)), "page") if len(own) == 1 else newest_of(own, model=model)


@detector("chunk.index_gap", needs=ChunkEvidence)
def find_gaps(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Pages whose indices are not complete from 0."""
    first = _first_index(evidence.orders)
    subjects = list(_gaps(evidence.orders, first))
    late = all(subject.details["missing_count"] == subject.details["lowest"] - first for subject in subjects)
    if subjects and late:
        several = len(subjects) > 1
        named = f"{len(subjects):,} pages have" if several else f"The page {subjects[0].name} has"
        message = f"{named} no chunk {first}; later numbers are complete."
        cause, remedy = (words.format(first=first) for words in (_LATE, _COUNTED))
        yield make_finding("chunk.index_gap", subjects, message=message, cause=cause, remedy=remedy)
    elif subjects:
        yield make_finding("chunk.index_gap", subjects)


def _gaps(orders: Orders, first: int) -> Iterator[Subject]:
    pages = orders.in_full(orders.chosen(orders.last - first - orders.indices + 1 > 0))
    # If numbers restart in each parent chunk, subdivided chunks may be missing from them.
    again = any(page.parents for page in pages.values()) and orders.begin_again()
    for key, page in pages.items():
        if again and page.parents:
            continue
        present = sorted(page.points)
        missing = present[-1] - first + 1 - len(present)
        shown = list(islice(_between(first, present), _LISTED))
        details = {"missing": shown, "missing_count": missing, "lowest": present[0], "highest": present[-1]}
        extent = missing / (missing + len(present))
        # A number missing in every version of the page does not follow from there being two.
        without = frozenset({Aspect.CURRENT} if any(len(own) > 1 for own in page.points.values()) else ())
        yield Subject(name=page.url, page=key, details=details, indices=tuple(shown), extent=extent, without=without)


def _between(first: int, present: Sequence[int]) -> Iterator[int]:
    """Yield the missing indices from ``first``; lazily, since one wrong index can leave billions."""
    for index in present:
        yield from range(first, index)
        first = index + 1


def _first_index(orders: Orders) -> int:
    """0, or 1 if no page has a chunk 0 and most of several pages start at 1: then the index counts from 1.

    On the others the first chunk is missing, or has no page or index.
    """
    pages = len(orders.keys)
    from_one = int((orders.first == 1).sum())
    return 1 if pages > 1 and bool(orders.first.all()) and 2 * from_one > pages else 0


@detector("chunk.order_shuffled", needs=ChunkEvidence)
def find_shuffled(evidence: ChunkEvidence) -> Iterator[Subject]:
    """Pages with a chunk before one with a smaller index."""
    found = {
        key: (own, order)
        for key, own in evidence.on_pages(evidence.layout.doubtful)
        if key in evidence.read and (order := _out_of_order(own, evidence.habits))
    }
    tails = {subject.name for subject in stale_tails(evidence)} if found else set()
    for key, (own, order) in found.items():
        left = _out_of_order([chunk for chunk in own if chunk.point_id not in tails], evidence.habits)
        # A page that is equally shuffled without the leftovers does not follow from them.
        without = frozenset({Aspect.CURRENT} if left else ())
        yield Subject(name=evidence.read[key], page=key, details=order, without=without)


def _out_of_order(own: Sequence[ChunkFacts], habits: Habits) -> dict[str, int]:
    """How many of a page's located chunks are out of order, and how many are located; empty: none."""
    indexed = [
        (chunk.chunk_index, _place(chunk))
        for chunk in own
        if (chunk.chunk_index or 0) >= 0 and _is_placed(chunk) and class_of(chunk, habits) == "verified"
    ]
    placed = sorted((index, place) for index, place in indexed if index is not None)
    if len({index for index, _ in placed}) < len(placed):
        return {}  # of two chunks with the same index neither is known to be the page's
    # Of two copies neither is known to be out of order.
    copies = Counter(place for _, place in placed)
    places = [place for _, place in placed if copies[place] == 1]
    moved = len(places) - _longest_rising(places)
    return {"out_of_order": moved, "chunks": len(places)} if moved else {}


def _is_placed(chunk: ChunkFacts) -> bool:
    """Whether a chunk's text is in one place of the page, not scattered by chance."""
    longest = max((length for length, place, _ in _spans(chunk) if place >= 0), default=0)
    if chunk.repeated or longest < max(ANCHOR_LETTERS, MOST * chunk.letters):
        return False
    _, shift = _longest_span(chunk)
    on_page = [(length, place - start) for length, place, start in _spans(chunk) if place >= 0]
    beside = sum(length for length, own in on_page if abs(own - shift) <= LONGEST_GAP)
    return beside >= VERIFIED_FROM * sum(length for length, _ in on_page)


def _place(chunk: ChunkFacts) -> int:
    """Position on the page of the first long span of a chunk that is consistent with its longest one.

    Text added before the chunk, found elsewhere or nowhere, does not affect the position.
    """
    _, shift = _longest_span(chunk)
    return next(
        place
        for length, place, start in _spans(chunk)
        if place >= 0 and length >= ANCHOR_LETTERS and abs(place - start - shift) <= LONGEST_GAP
    )


def _longest_span(chunk: ChunkFacts) -> tuple[int, int]:
    """The first letter of the longest span on the page, and its offset relative to the chunk."""
    _, place, start = max((span for span in _spans(chunk) if span[1] >= 0), key=lambda span: span[0])
    return start, place - start


def _spans(chunk: ChunkFacts) -> Iterator[tuple[int, int, int]]:
    return zip(chunk.lengths, chunk.places, chunk.starts, strict=True)


def _longest_rising(places: Sequence[int]) -> int:
    """Length of the longest rising subsequence."""
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails)
