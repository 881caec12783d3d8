"""Chunks left over from an older version of their page, where no dates tell: judged by the page's text alone.

What lives here: the end of a page's chunks that the page does not have any more. What does not: dates (``stale_tail``),
and single chunks that are gone from their page (``validation/integrity``).

A page that became shorter ends within the chunks that were written anew; what follows them is gone from it. A last
chunk that holds another page's text by mistake is gone too, but then the page's own end stands in no chunk: nothing is
said of it here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.sources.page_copies.reader import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.chunks.order import PageOrder
from ragval_pipeline.validation.integrity.chunks_of_pages import chunks_of_pages
from ragval_pipeline.text.trigrams import share_in, trigrams
from ragval_pipeline.text.words import words_of
from ragval_pipeline.validation.times import parse_time

#: Share of a chunk's word trigrams on the page from which it stands there, and up to which it is gone.
STANDS, GONE = 0.9, 0.5
#: Trigrams of a chunk that say something of its page: in fewer, those that join the frame to the text weigh too much.
FEWEST = 10
#: Words at the end of the page's content that the chunks in front of the tail must hold.
ENDING = 30


def undated_pages(pages: Mapping[str, PageOrder]) -> dict[str, PageOrder]:
    """Pages with several chunks of which not all have a date: there is no order of dates."""
    return {
        key: page
        for key, page in pages.items()
        if len(page.points) > 1 and not all(parse_time(time) for points in page.points.values() for _, time in points)
    }


def find_leftovers(pages: Mapping[str, PageOrder], snapshot: Snapshot, copies: PageCopies) -> Iterator[Subject]:
    """The points that are left over on pages that were read."""
    for group in copies.groups():
        read = {record.page_key: record for record in group if record.main and record.page_key in pages}
        stored = chunks_of_pages(snapshot, list(read)) if read else {}
        for key, rows in stored.items():
            texts = {row["point_id"]: row["text"] or "" for row in rows}
            tail = leftover_indices(pages[key], texts, main=read[key].main, body=read[key].body)
            yield from _subjects(key, pages[key], tail)


def leftover_indices(page: PageOrder, texts: Mapping[str, str], *, main: str, body: str) -> set[int]:
    """The unbroken end of a page's chunk indices that is gone, when the chunks in front of it hold the page's end.

    Args:
        page: The page's points by index.
        texts: Their texts by id.
        main: Content of the page.
        body: All of its text.
    """
    on_page = trigrams(words_of(body))
    held = {
        index: [trigrams(words_of(texts.get(name, ""))) for name, _ in points] for index, points in page.points.items()
    }
    frame = _frame([own for found in held.values() for own in found], on_page)
    bare = {
        index: [{trigram for trigram in own if trigram in on_page or trigram[0] not in frame} for own in found]
        for index, found in held.items()
    }
    shares = {index: max((share_in(own, on_page) for own in found), default=0.0) for index, found in bare.items()}
    long = {index for index, found in bare.items() if all(len(own) >= FEWEST for own in found)}
    tail = _unbroken_end(shares, {index for index in long if shares[index] <= GONE})
    head = [index for index in shares if index not in tail]
    if not tail or any(shares[index] < STANDS for index in head if index in long):
        return set()
    ending = trigrams(words_of(main)[-ENDING:])
    return tail if share_in(ending, set().union(*(own for index in head for own in held[index]))) >= STANDS else set()


def _frame(chunks: Iterable[set[tuple[str, ...]]], on_page: set[tuple[str, ...]]) -> set[str]:
    """Words that several chunks have where the page has not: title, source and the like, put before every chunk.

    What begins with one and is not on the page is the frame, or where it meets the text.
    """
    counts = Counter(trigram for own in chunks for trigram in own - on_page)
    return {word for trigram, count in counts.items() if count > 1 for word in trigram}


def _unbroken_end(indices: Iterable[int], gone: Collection[int]) -> set[int]:
    """The last indices that are gone; empty when all are."""
    tail: set[int] = set()
    for index in sorted(indices, reverse=True):
        if index not in gone:
            return tail
        tail.add(index)
    return set()


def _subjects(key: str, page: PageOrder, tail: Iterable[int]) -> Iterator[Subject]:
    for index in sorted(tail):
        for point_id, _ in page.points[index]:
            details = {"page_url": page.url, "chunk_index": index, "checked_on_page": True}
            yield Subject(name=point_id, page=key, details=details)
