"""Chunks left over from a longer, older version of their page.

A page that became shorter and was ingested again over its old ids keeps its last old chunks: a tail of indices, all
embedded before everything in front of them. An ingestion that embeds only the chunks that changed leaves old chunks
too, but anywhere: where a collection shows such pages, dates alone prove nothing. And a chunk whose text the page still
has, and no chunk in front of it, is no leftover whatever its date.

Without dates the page alone tells: its chunks hold its end, and what follows them in the index is gone from it. A last
chunk that holds another page's text by mistake is gone too, but then the page's own end stands in no chunk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, takewhile

from ragval_pipeline.findings.model import Aspect, Subject
from ragval_pipeline.text.times import parse_time, utc_text
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.order import PageOrder
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts
from ragval_pipeline.validation.integrity.content import class_of, is_lost
from ragval_pipeline.validation.integrity.habits import Habits
from ragval_pipeline.validation.thresholds import CLOCK_SKEW, FEW, MOST, PASSAGE_LETTERS


@dataclass(frozen=True)
class Tail:
    """The end of a page that is older than its beginning.

    Attributes:
        page: Key of the page.
        url: The page as stored.
        first: Index of the tail's first chunk.
        points: Points of the tail by id, with their index and time.
        head: Points in front of it.
        newest: When the newest of the tail was embedded.
        rewritten: When the oldest of the head was.
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

    Args:
        pages: The points of each page by index.
        now: Time of the run, aware: what claims to be from later has no date, and is named as an invalid value.
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


@detector("chunk.stale_tail", needs=ChunkEvidence)
def find_stale_tails(evidence: ChunkEvidence) -> Iterator[Subject]:
    """The points of old ends of pages."""
    yield from stale_tails(evidence)


def stale_tails(evidence: ChunkEvidence) -> list[Subject]:
    """The points of old ends of pages that their pages do not need.

    An end that other pages hold as a whole is none of the page. Of one that no other page holds as a whole some may say
    what other pages say too, such as the closing words of all posts.
    """
    found = list(_ends(evidence))
    misplaced = evidence.misplaced([subject.name for subject in found])
    own = {subject.page for subject in found if subject.name not in misplaced}
    return [subject for subject in found if subject.page in own]


def _ends(evidence: ChunkEvidence) -> Iterator[Subject]:
    orders, read = evidence.orders, evidence.read
    tails, dates_prove = find_tails(orders.in_full(orders.mixed_ages), now=evidence.now)
    old = {tail.page: tail for tail in tails if dates_prove or tail.page in read}
    kept = {key: needed_points(old[key], own) for key, own in evidence.on_pages(old)}
    for key, tail in old.items():
        yield from _old_subjects(tail, kept.get(key, set()), checked=key in read)
    undated = read.keys() & orders.chosen(~orders.dated & (orders.indices > 1))
    if not undated:
        return
    pages, ends = orders.in_full(undated), evidence.last_passages(undated)
    own = ((key, chunks) for key, chunks in evidence.on_pages(undated) if key in ends)
    gone = {key: leftover(pages[key], chunks, ends[key], evidence.habits) for key, chunks in own}
    for key in (key for key in pages if gone.get(key)):
        yield from _gone_subjects(key, pages[key], gone[key])


def needed_points(tail: Tail, chunks: Sequence[ChunkFacts]) -> set[str]:
    """Points of a tail whose text the page has and the chunks in front of it do not hold."""
    head = _letters_of(chunk for chunk in chunks if chunk.point_id in tail.head)
    return {chunk.point_id for chunk in chunks if chunk.point_id in tail.points and _is_needed(chunk, head)}


def _letters_of(chunks: Iterable[ChunkFacts]) -> set[int]:
    """The letters of a page that some of its chunks hold."""
    return {letter for chunk in chunks for first, behind in chunk.spans for letter in range(first, behind)}


def _is_needed(chunk: ChunkFacts, head: Collection[int]) -> bool:
    """Whether most of a chunk stands on its page, where the chunks in front of it do not hold it."""
    return chunk.share >= MOST and sum(letter in head for letter in _letters_of([chunk])) < MOST * chunk.found


def leftover(order: PageOrder, chunks: Sequence[ChunkFacts], last: BlockFacts, habits: Habits) -> set[int]:
    """The unbroken end of a page's chunk indices that is gone, when the chunks in front of it hold the page's end.

    Pages repeat themselves: some of what is gone says most of what the page still says in front of it.

    Args:
        order: The points of the page by index.
        chunks: The same against the page.
        last: The last passage of the page.
        habits: What the ingestion puts around its chunks.
    """
    own = {chunk.point_id: chunk for chunk in chunks}
    parts = {index: [own.get(name) for name, _ in points] for index, points in order.points.items()}
    gone = {index for index, part in parts.items() if all(_is_gone(chunk, habits) for chunk in part)}
    tail = list(takewhile(lambda index: index in gone or _repeats(parts[index], habits), sorted(parts, reverse=True)))
    head = _letters_of(chunk for index in parts.keys() - set(tail) for chunk in filter(None, parts[index]))
    while tail and any(_is_needed(chunk, head) for chunk in filter(None, parts[tail[-1]])):
        head |= _letters_of(filter(None, parts[tail.pop()]))
    needed = any(_is_needed(chunk, head) for index in tail for chunk in filter(None, parts[index]))
    found = set(tail)
    if needed or found.isdisjoint(gone) or gone - found or len(found) == len(parts) or is_lost(last):
        return set()
    return found


def _is_gone(chunk: ChunkFacts | None, habits: Habits) -> bool:
    """Whether a chunk that is long enough to tell is gone from its page."""
    return chunk is not None and chunk.letters >= PASSAGE_LETTERS and class_of(chunk, habits) == "gone"


def _repeats(part: Iterable[ChunkFacts | None], habits: Habits) -> bool:
    """Whether the chunks of one index stand on their page only in part."""
    return all(chunk is not None and class_of(chunk, habits) == "drifted" for chunk in part)


def _old_subjects(tail: Tail, kept: Collection[str], *, checked: bool) -> Iterable[Subject]:
    for point_id, (index, embedded) in tail.points.items():
        if point_id not in kept:
            details = {
                "page_url": tail.url,
                "chunk_index": index,
                "embedded_at": utc_text(embedded),
                "page_embedded_at": utc_text(tail.rewritten),
                "checked_on_page": checked,
            }
            # By its date it is old, whatever its letters are.
            yield Subject(name=point_id, page=tail.page, details=details, without=frozenset({Aspect.LETTERS}))


def _gone_subjects(key: str, order: PageOrder, tail: Iterable[int]) -> Iterable[Subject]:
    for index in sorted(tail):
        for point_id, _ in order.points[index]:
            details = {"page_url": order.url, "chunk_index": index, "checked_on_page": True}
            yield Subject(name=point_id, page=key, details=details)


def _times(page: PageOrder, now: datetime) -> dict[int, datetime]:
    """When the newest point of each index was embedded; without dates for all there is nothing to compare."""
    times = {}
    for index, points in page.points.items():
        moments = (parse_time(embedded_at) for _, embedded_at in points)
        known = [moment for moment in moments if moment is not None and moment <= now + CLOCK_SKEW]
        if len(known) < len(points):
            return {}
        times[index] = max(known)
    return times


def _tail(key: str, page: PageOrder, times: Mapping[int, datetime]) -> Tail | None:
    """The longest end of the page that is older than everything in front of it."""
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
