"""Chunks left over from a longer, older version of their page.

What lives here: ``chunk.stale_tail`` from the dates of a page's chunks, checked against the page's text where it was
read. What does not: whether any other chunk stands on its page (``validation/integrity``), gaps (``order``).

A page that became shorter and was ingested again over its old ids keeps its last old chunks: a tail of indices, all
embedded before everything in front of them. An ingestion that embeds only the chunks that changed leaves old chunks
too, but anywhere: where a collection shows such pages, dates alone prove nothing. And a chunk whose text the page still
has, and no chunk in front of it, is no leftover whatever its date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.chunks.order import PageOrder
from ragval_pipeline.text.trigrams import share_in, trigrams
from ragval_pipeline.text.words import words_of
from ragval_pipeline.validation.times import CLOCK_SKEW, parse_time, utc_text

#: Chunks of one page that are further apart were not embedded by the same ingestion.
APART = timedelta(minutes=10)
#: Share of the pages with chunks of several ingestions whose old chunks may stand elsewhere than at the end.
MAX_UNORDERED = 0.1
#: Share of a chunk's word trigrams that must stand in a text for the chunk to stand there.
STANDS = 0.9


@dataclass(frozen=True)
class Tail:
    """The end of a page that is older than its beginning.

    Args:
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
        if len(times) < 2 or max(times.values()) - min(times.values()) <= APART:
            continue
        tail = _tail(key, page, times)
        if tail is None:
            unordered += 1
        else:
            tails.append(tail)
    return tails, unordered <= MAX_UNORDERED * (len(tails) + unordered)


def stale_tail_findings(
    tails: Iterable[Tail],
    *,
    needed: Mapping[str, Collection[str]],
    dates_prove: bool,
    undated: Iterable[Subject] = (),
) -> list[Finding]:
    """``chunk.stale_tail``.

    Args:
        tails: Old ends of pages.
        needed: By page that was read, the points of the tail that the page still needs (``needed_points``).
        dates_prove: Whether a tail is a leftover also where the page was not read.
        undated: Leftovers of pages without dates (``leftover``).
    """
    subjects = list(undated)
    for tail in tails:
        if tail.page not in needed and not dates_prove:
            continue
        kept = needed.get(tail.page, ())
        for point_id, (index, embedded) in tail.points.items():
            if point_id not in kept:
                details = {
                    "page_url": tail.url,
                    "chunk_index": index,
                    "embedded_at": utc_text(embedded),
                    "page_embedded_at": utc_text(tail.rewritten),
                    "checked_on_page": tail.page in needed,
                }
                subjects.append(Subject(name=point_id, page=tail.page, details=details))
    return [make_finding("chunk.stale_tail", subjects)] if subjects else []


def needed_points(tail: Tail, texts: Mapping[str, str], page_text: str) -> set[str]:
    """Points of a tail whose text the page has and the chunks in front of it have not.

    Args:
        tail: The tail.
        texts: Text of each of the page's points, by id.
        page_text: All text of the page.
    """
    page = trigrams(words_of(page_text))
    held = {point_id: trigrams(words_of(texts.get(point_id, ""))) for point_id in (*tail.points, *tail.head)}
    head = set().union(*(held[point_id] for point_id in tail.head))
    return {
        point_id
        for point_id in tail.points
        if share_in(held[point_id], page) >= STANDS and share_in(held[point_id], head) < STANDS
    }


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
    newest_after = times[indices[-1]]
    found = None
    for place in range(len(indices) - 1, 0, -1):
        newest_after = max(newest_after, times[indices[place]])
        oldest_before = min(times[index] for index in indices[:place])
        if newest_after + APART < oldest_before:
            found = (place, newest_after, oldest_before)
    if found is None:
        return None
    place, newest, rewritten = found
    tail = {point_id: (index, times[index]) for index in indices[place:] for point_id, _ in page.points[index]}
    head = tuple(point_id for index in indices[:place] for point_id, _ in page.points[index])
    return Tail(key, page.url, indices[place], tail, head, newest, rewritten)
