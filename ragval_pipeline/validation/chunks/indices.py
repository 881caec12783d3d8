"""Chunk indices that are missing, or out of page order."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from ragval_pipeline.findings.factory import LISTED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.index_gap import RULE as INDEX_GAP
from ragval_pipeline.rules.chunk.index_gap import Details
from ragval_pipeline.rules.chunk.order_shuffled import RULE as ORDER_SHUFFLED
from ragval_pipeline.rules.chunk.order_shuffled import Details as Order
from ragval_pipeline.rules.details import read, written
from ragval_pipeline.validation.chunks.compared import Compared
from ragval_pipeline.validation.chunks.content import lost_passages
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.order import Orders, PageOrder
from ragval_pipeline.validation.chunks.stale_tail import stale_tails
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, FEWEST, LONGEST_GAP, MOST, VERIFIED_FROM

#: A page that lost its first chunks has the same numbers as one counted from another start.
_LATE = "The first chunks were deleted or never written, or the chunks of these pages are not numbered from {first}."
_COUNTED = (
    "Re-ingest the URLs that integrity.not_captured also lists: their first chunks are lost. The others are "
    "complete: number their chunks from {first}, as on the other pages."
)
#: The same if nothing of these pages is missing.
_MISCOUNTED = "The chunks of these pages are not numbered from {first}: no passage of the pages is missing."
_NUMBER = "Number the chunks of each page from {first}, then write the points again. Their texts and vectors are right."


@detector(INDEX_GAP, needs=ChunkEvidence)
def find_gaps(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Pages whose indices are not complete from 0, or from where those of another page end if one count does all."""
    is_one_count = _is_one_count(evidence.orders)
    first = _first_index(evidence.orders)
    subjects = list(_gaps(evidence, None if is_one_count else first))
    late = not is_one_count and all(_lacks_only_first(subject, first) for subject in subjects)
    if subjects and late:
        several = len(subjects) > 1
        named = f"{len(subjects):,} pages have" if several else f"The page {subjects[0].name} has"
        message = f"{named} no chunk {first}; later numbers are complete."
        words_of = (_LATE, _COUNTED)
        if all(_is_whole(evidence, subject.page or "") for subject in subjects):
            words_of = (_MISCOUNTED, _NUMBER)
        cause, remedy = (words.format(first=first) for words in words_of)
        yield make_finding(INDEX_GAP.code, subjects, message=message, cause=cause, remedy=remedy)
    elif subjects:
        yield make_finding(INDEX_GAP.code, subjects)


def _lacks_only_first(subject: Subject, first: int) -> bool:
    gap = read(Details, subject.details)
    return gap.missing_count == gap.lowest - first


def _gaps(evidence: ChunkEvidence, start: int | None) -> Iterator[Subject]:
    """The pages that lack a number, counted from ``start``; None: from the first number that each has."""
    orders = evidence.orders
    begin = orders.first if start is None else start
    pages = orders.in_full(orders.chosen(orders.last - begin - orders.indices + 1 > 0))
    firsts = {key: min(page.points) if start is None else start for key, page in pages.items()}
    # If numbers restart in each parent chunk, subdivided chunks may be missing from them.
    again = any(page.parents for page in pages.values()) and orders.begin_again()
    misplaced = evidence.misplaced({name for key, page in pages.items() for name in _behind_a_gap(page, firsts[key])})
    for key, page in pages.items():
        if again and page.parents:
            continue
        present, first = sorted(page.points), firsts[key]
        missing = present[-1] - first + 1 - len(present)
        shown = list(islice(_between(first, present), LISTED))
        details = Details(shown, missing, present[0], present[-1])._asdict()
        extent = missing / (missing + len(present))
        # A number missing in every version of the page does not follow from there being two.
        without = frozenset({Aspect.CURRENT} if any(len(own) > 1 for own in page.points.values()) else ())
        if not _is_complete_without(page, misplaced, first):
            without |= {Aspect.OWN}
        yield Subject(name=page.url, page=key, details=details, indices=tuple(shown), extent=extent, without=without)


def _is_whole(evidence: ChunkEvidence, page: str) -> bool:
    """Whether a page was read, and its chunks have all passages of it."""
    return page in evidence.read and not lost_passages(evidence.compared.pages[page].blocks)


def _is_one_count(orders: Orders) -> bool:
    """Whether one count goes through the whole collection: most pages begin after another one ends, all apart."""
    in_order = orders.first.argsort()
    starts, ends = orders.first[in_order], orders.last[in_order]
    apart = int((starts[1:] > ends[:-1]).sum())
    return len(set(starts.tolist())) == len(starts) >= FEWEST and apart > MOST * (len(starts) - 1)


def _behind_a_gap(page: PageOrder, first: int) -> Iterator[str]:
    """The points numbered after a missing number."""
    for position, index in enumerate(sorted(page.points), start=first):
        if index != position:
            yield from (name for name, _ in page.points[index])


def _is_complete_without(page: PageOrder, points: Collection[str], first: int) -> bool:
    """Whether a page without some points lacks no number: theirs are those of another page."""
    own = sorted(index for index, stored in page.points.items() if any(name not in points for name, _ in stored))
    return not own or own[-1] - first + 1 == len(own)


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


@detector(ORDER_SHUFFLED, needs=ChunkEvidence)
def find_shuffled(evidence: ChunkEvidence) -> Iterator[Subject]:
    """Pages with a chunk before one with a smaller index."""
    found = {
        key: (own, order)
        for key, own in evidence.on_pages(evidence.layout.doubtful)
        if key in evidence.read and (order := _out_of_order(own, evidence.compared))
    }
    tails = {subject.name for subject in stale_tails(evidence)} if found else set()
    for key, (own, order) in found.items():
        left = _out_of_order([chunk for chunk in own if chunk.point_id not in tails], evidence.compared)
        # A page that is equally shuffled without the leftovers does not follow from them.
        without = frozenset({Aspect.CURRENT} if left else ())
        yield Subject(name=evidence.read[key], page=key, details=written(order), without=without)


def _out_of_order(own: Sequence[ChunkFacts], compared: Compared) -> Order | None:
    """How many of a page's located chunks are out of order, and how many are located; None: none is."""
    placed = sorted(
        (chunk.chunk_index, place)
        for chunk in own
        if chunk.chunk_index is not None and chunk.chunk_index >= 0
        if (place := _place(chunk)) is not None and compared.class_of(chunk) == "verified"
    )
    if len({index for index, _ in placed}) < len(placed):
        return None  # of two chunks with the same index neither is known to be the page's
    # Of two copies neither is known to be out of order.
    copies = Counter(place for _, place in placed)
    places = [place for _, place in placed if copies[place] == 1]
    moved = len(places) - _longest_rising(places)
    return Order(moved, len(places)) if moved else None


def _place(chunk: ChunkFacts) -> int | None:
    """Position on the page of the first long part of a chunk beside its longest one; None if it is scattered by chance.

    Text added before the chunk, found elsewhere or nowhere, does not affect the position.
    """
    longest = None if chunk.repeated else chunk.longest_part
    if longest is None or longest[2] < max(ANCHOR_LETTERS, MOST * chunk.letters):
        return None
    shift = longest[1] - longest[0]
    beside = [(place, length) for start, place, length in chunk.parts if abs(place - start - shift) <= LONGEST_GAP]
    if sum(length for _, length in beside) < VERIFIED_FROM * sum(length for _, _, length in chunk.parts):
        return None
    return next(place for place, length in beside if length >= ANCHOR_LETTERS)


def _longest_rising(places: Sequence[int]) -> int:
    """Length of the longest rising subsequence."""
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails)
