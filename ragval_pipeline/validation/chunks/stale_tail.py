"""Chunks left over from a longer, older version of their page.

A page that became shorter and was ingested again with the same ids keeps its last old chunks: a tail of indices, all
embedded before everything preceding them. An ingestion that embeds only changed chunks leaves old chunks too, but
anywhere: if a collection has such pages, dates alone prove nothing. And a chunk whose text is still on the page, but in
no preceding chunk, is not a leftover whatever its date.

Without dates the page decides: its chunks include its end, and what follows them in the index is gone from it, or goes
back on it. A last chunk with another page's text by mistake is gone too, but then the page's own end is in no chunk.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.stale_tail import RULE as STALE_TAIL
from ragval_pipeline.rules.chunk.stale_tail import Details
from ragval_pipeline.text.times import parse_time, utc_text
from ragval_pipeline.validation.chunks.content import ChunkClass, is_lost
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.order import PageOrder
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts
from ragval_pipeline.validation.points import on_page
from ragval_pipeline.validation.thresholds import CLOCK_SKEW, FEW, FEWEST, MOST, PASSAGE_LETTERS, WHOLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The class of a chunk relative to its page.
Classify = Callable[[ChunkFacts], ChunkClass]


@dataclass(frozen=True)
class Tail:
    """The end of a page that is older than its beginning.

    Attributes:
        page: Key of the page.
        url: The page as stored.
        first: Index of the tail's first chunk.
        points: Points of the tail by id, with their index and time.
        head: Points before it.
        newest: Embedding time of the newest of the tail.
        rewritten: Embedding time of the oldest of the head.
    """

    page: str
    url: str
    first: int
    points: Mapping[str, tuple[int, datetime]]
    head: tuple[str, ...]
    newest: datetime
    rewritten: datetime


def find_tails(pages: Mapping[str, PageOrder], *, now: datetime) -> tuple[list[Tail], bool]:
    """The old ends of pages, and whether dates alone prove that they are leftovers.

    Times after ``now`` are ignored, and reported as invalid values.
    """
    tails, unordered = [], 0
    for key, page in pages.items():
        times = _times(page, now)
        if len(times) < 2 or max(times.values()) - min(times.values()) <= CLOCK_SKEW:
            continue
        tail = _tail(key, page, times)
        if tail is None:
            unordered += 1
        else:
            tails.append(tail)
    return tails, unordered <= FEW * (len(tails) + unordered)


@detector(STALE_TAIL, needs=ChunkEvidence)
def find_stale_tails(evidence: ChunkEvidence) -> Iterator[Subject]:
    """The points of old ends of pages."""
    yield from stale_tails(evidence)


def stale_tails(evidence: ChunkEvidence) -> list[Subject]:
    """The points of old ends that their pages do not need.

    An end of which most is on other pages does not belong to the page: several pages may be stored under one address.
    Parts of other ends may also be on other pages, such as the closing words of all posts.
    """
    found = list(_ends(evidence))
    names = [subject.name for subject in found]
    misplaced, gone = evidence.misplaced(names), evidence.differing(names, "gone")
    elsewhere, letters = Counter[str | None](), Counter[str | None]()
    for name, chunk in gone.items():
        letters[chunk.page_key] += chunk.letters
        elsewhere[chunk.page_key] += chunk.letters if name in misplaced else 0
    return [subject for subject in found if elsewhere[subject.page] <= MOST * letters[subject.page]]


def _ends(evidence: ChunkEvidence) -> Iterator[Subject]:
    orders, read = evidence.orders, evidence.read
    tails, dates_prove = find_tails(orders.in_full(orders.mixed_ages), now=evidence.now)
    old = {tail.page: tail for tail in tails if dates_prove or tail.page in read}
    kept = {key: needed_points(old[key], own) for key, own in evidence.on_pages(old)}
    for key, tail in old.items():
        yield from _old_subjects(tail, kept.get(key, set()), checked=key in read)
    yield from _undated_ends(evidence)


def _undated_ends(evidence: ChunkEvidence) -> Iterator[Subject]:
    orders, layout = evidence.orders, evidence.layout
    # Chunks of one date are of one ingestion: what is gone from their page was on it then.
    undated = (layout.doubtful | layout.frayed) & evidence.read.keys() & set(orders.chosen(~orders.dated))
    if not undated:
        return
    pages, ends = orders.in_full(undated), evidence.last_passages(undated)
    tails = {
        key: left
        for key, chunks in evidence.on_pages(undated)
        if key in ends and (left := leftover(pages[key], chunks, ends[key], evidence.compared.class_of)).indices
    }
    made = {key for key, left in tails.items() if left.is_gone}
    # Pages that all end with other text were ingested so: with a summary, or questions that they answer.
    if len(made) >= max(FEWEST, WHOLE * len(layout.copies)):
        tails = {key: left for key, left in tails.items() if key not in made}
    # Copies of any chunks may happen to be of the last ones.
    repeated = {key for key, left in tails.items() if not left.has_gone}
    old = {key for key in repeated if tails[key].ends_the_page}
    if len(old) <= MOST * len(repeated):
        old.clear()
    for key in (tails.keys() - repeated) | old:
        yield from _gone_subjects(key, pages[key], tails[key].indices)


def needed_points(tail: Tail, chunks: Sequence[ChunkFacts]) -> set[str]:
    """Points of a tail whose text is on the page but not in the preceding chunks, and those without text to tell by."""
    needed = tail.points.keys() - {chunk.point_id for chunk in chunks}
    # A chunk's parent has its text, too, and is no version of it.
    for depth in {chunk.depth for chunk in chunks}:
        layer = [chunk for chunk in chunks if chunk.depth == depth]
        behind = [chunk for chunk in layer if chunk.point_id in tail.points]
        if _is_whole_layer([chunk for chunk in layer if chunk.point_id in tail.head], behind):
            needed |= {chunk.point_id for chunk in behind}
            continue
        first = _first_indices([(tail.first - (chunk.point_id in tail.head), chunk) for chunk in layer])
        needed |= {chunk.point_id for chunk in behind if chunk.share >= MOST and _held_upto(chunk, first) >= tail.first}
    return needed


def _is_whole_layer(before: Sequence[ChunkFacts], behind: Sequence[ChunkFacts]) -> bool:
    """Whether the last chunks of a page are all of it once more, in smaller pieces: children, not an old end."""
    held, places = ([run for _, run in _placed(chunks)] for chunks in (before, behind))
    if len(behind) < FEWEST or len(behind) <= len(before) or not held or len(places) < MOST * len(behind):
        return False
    begins = min(places)[0] - min(held)[0]
    rest = max(end for _, end in held) - max(end for _, end in places)
    return begins < PASSAGE_LETTERS > rest


def _first_indices(chunks: Iterable[tuple[int, ChunkFacts]]) -> NDArray[np.int64]:
    """The smallest index of the chunks that have each letter of a page, given chunks with their indices."""
    ordered = sorted(chunks, key=itemgetter(0), reverse=True)
    first = np.zeros(max((end for _, chunk in ordered for _, end in chunk.spans), default=0), dtype=np.int64)
    for index, chunk in ordered:
        for begin, end in chunk.spans:
            first[begin:end] = index
    return first


def _held_upto(chunk: ChunkFacts, first: NDArray[np.int64]) -> int:
    """The index up to which chunks have so much of a chunk that its page does not need it; -1 if it is not on its page.

    That is most of it, and all but a few letters: the last chunk of a page may be short, and most of it the overlap
    with the one before.
    """
    held = np.sort(np.concatenate([first[:0], *(first[begin:end] for begin, end in chunk.spans)]))
    least = max(math.ceil(MOST * len(held)), len(held) - PASSAGE_LETTERS + 1)
    return int(held[least - 1]) if len(held) else -1


@dataclass(frozen=True)
class Leftover:
    """The end of a page's indices of which the page needs no chunk.

    Attributes:
        indices: The chunk indices; may be empty.
        has_gone: Whether some of it is gone from the page.
        is_gone: Whether all of it is.
        ends_the_page: Whether it is the end of the page once more.
    """

    indices: frozenset[int] = frozenset()
    has_gone: bool = False
    is_gone: bool = False
    ends_the_page: bool = False


def leftover(order: PageOrder, chunks: Sequence[ChunkFacts], last: BlockFacts, class_of: Classify) -> Leftover:
    """The end of an older version: the page needs none of it, and the chunks before it have the page's own end.

    Pages repeat themselves: gone chunks may repeat most of the page's remaining text. What is still on the page, as
    after an ingestion in larger chunks, goes back from the page's end, but not to its beginning, as a second ingestion
    with further numbers does, and ends with the page, unlike a copy of a chunk. ``last`` is the last passage of the
    page.
    """
    by_id = {chunk.point_id: chunk for chunk in chunks}
    parts = {index: [by_id.get(name) for name, _ in points] for index, points in sorted(order.points.items())}
    gone = {index for index, part in parts.items() if all(_is_gone(chunk, class_of) for chunk in part)}
    known = {index: [chunk for chunk in part if chunk is not None] for index, part in parts.items()}
    tail = [index for index in _unneeded(known, class_of) if len(known[index]) == len(parts[index])]
    before = [index for index in known if index not in tail]
    if not before:
        return Leftover()
    while tail and not (_differs(known[tail[0]], class_of) or _goes_back(known[before[-1]], known[tail[0]])):
        before.append(tail.pop(0))
    names = frozenset(tail)
    if not names or gone - names or is_lost(last):
        return Leftover()
    return Leftover(names, bool(gone), gone == names, _ends_the_page(known, before, tail))


def _unneeded(parts: Mapping[int, Sequence[ChunkFacts]], class_of: Classify) -> list[int]:
    """The longest end of some indices of which the page needs no chunk, given those before it."""
    first = _first_indices((index, chunk) for index, chunks in parts.items() for chunk in chunks)
    found: list[int] = []
    needs = -1
    for index, chunks in sorted(parts.items(), reverse=True):
        on_page = (chunk for chunk in chunks if class_of(chunk) != "gone")
        needs = max([needs, *(_held_upto(chunk, first) for chunk in on_page)])
        if needs >= index or not chunks:
            break
        found.append(index)
    return found[::-1]


def _goes_back(before: Iterable[ChunkFacts], chunks: Iterable[ChunkFacts]) -> bool:
    """Whether chunks in one piece of the page begin, or else end, before those of the index before them."""
    whole = [chunk for chunk in chunks if chunk.longest >= MOST * chunk.letters]
    places, others = (
        [(stretch[0], chunk.stretch[1]) for chunk, stretch in _placed(some) if chunk.stretch is not None]
        for some in (whole, before)
    )
    return bool(places and others) and max(places) < min(others)


def _ends_the_page(parts: Mapping[int, Sequence[ChunkFacts]], before: Iterable[int], tail: Iterable[int]) -> bool:
    """Whether a tail continues on the page, ends where the preceding chunks end, and begins after their beginning."""
    head, behind = ([chunk for index in indices for chunk in parts[index]] for indices in (before, tail))
    held, places = ([run for _, run in _placed(chunks)] for chunks in (head, behind))
    if not held or len(places) < len(behind):
        return False
    continues = all(one[0] <= other[0] < one[1] + PASSAGE_LETTERS for one, other in pairwise(places))
    begins = min(places)[0] - min(held)[0]
    rest = max(end for _, end in held) - max(end for _, end in places)
    return continues and begins >= PASSAGE_LETTERS > rest


def _placed(chunks: Iterable[ChunkFacts]) -> Iterator[tuple[ChunkFacts, tuple[int, int]]]:
    """The chunks whose position is known, with their longest run: headings before it may be elsewhere on the page."""
    for chunk in chunks:
        if chunk.longest_part is not None and not chunk.repeated:
            _, place, length = chunk.longest_part
            yield chunk, (place, place + length)


def _is_gone(chunk: ChunkFacts | None, class_of: Classify) -> bool:
    """Whether a sufficiently long chunk is gone from its page."""
    return chunk is not None and chunk.letters >= PASSAGE_LETTERS and class_of(chunk) == "gone"


def _differs(part: Iterable[ChunkFacts], class_of: Classify) -> bool:
    """Whether the chunks of one index are not, or only partly, on their page."""
    return all(class_of(chunk) != "verified" for chunk in part)


def _old_subjects(tail: Tail, kept: Collection[str], *, checked: bool) -> Iterable[Subject]:
    for point_id, (index, embedded) in tail.points.items():
        if point_id not in kept:
            dates = Details(index, checked, utc_text(embedded), utc_text(tail.rewritten))
            details = on_page(tail.url, dates)
            # By its date it is old, whatever its letters are.
            yield Subject(name=point_id, page=tail.page, details=details, without=frozenset({Aspect.LETTERS}))


def _gone_subjects(key: str, order: PageOrder, tail: Iterable[int]) -> Iterable[Subject]:
    for index in sorted(tail):
        for point_id, _ in order.points[index]:
            details = Details(index, checked_on_page=True)
            yield Subject(name=point_id, page=key, details=on_page(order.url, details))


def _times(page: PageOrder, now: datetime) -> dict[int, datetime]:
    """Embedding time of the newest point of each index; empty unless all have dates."""
    times = {}
    for index, points in page.points.items():
        moments = (parse_time(embedded_at) for _, embedded_at in points)
        known = [moment for moment in moments if moment is not None and moment <= now + CLOCK_SKEW]
        if len(known) < len(points):
            return {}
        times[index] = max(known)
    return times


def _tail(key: str, page: PageOrder, times: Mapping[int, datetime]) -> Tail | None:
    """The longest end of the page that is older than everything before it."""
    indices = sorted(times)
    oldest_upto = list(accumulate((times[index] for index in indices), min))
    newest_from = list(accumulate((times[index] for index in reversed(indices)), max))[::-1]
    older = (place for place in range(1, len(indices)) if newest_from[place] + CLOCK_SKEW < oldest_upto[place - 1])
    place = next(older, None)
    if place is None:
        return None
    tail = {point_id: (index, times[index]) for index in indices[place:] for point_id, _ in page.points[index]}
    head = tuple(point_id for index in indices[:place] for point_id, _ in page.points[index])
    return Tail(key, page.url, indices[place], tail, head, newest_from[place], oldest_upto[place - 1])
