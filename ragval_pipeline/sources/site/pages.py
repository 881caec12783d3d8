"""Reading many pages in order, a few at a time, without holding them all."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import BoundedSemaphore
from typing import Protocol

from ragval_pipeline.sources.concurrent import in_order
from ragval_pipeline.sources.site.page_reader import PageCopy, PageReader
from ragval_pipeline.sources.site.urls import host_of

__all__ = ["PageCopy", "PageReader", "ReadsPages", "read_pages"]

log = logging.getLogger(__name__)
#: Pages of a host at a time: polite to a documentation host, and enough to hide most of its latency.
PER_HOST = 4
#: Hosts at a time.
MOST_HOSTS = 4


class ReadsPages(Protocol):
    """What reads the pages of a site: ``PageReader``, or a reader of the files that pages are made of."""

    @property
    def reads_files(self) -> bool:
        """Whether pages come from files, and nothing is fetched."""

    def learn_base_path(self, urls: Iterable[str]) -> str | None:
        """Look at the addresses before any page is read."""

    def read(self, url: str) -> PageCopy:
        """Read one page."""


def read_pages(
    urls: Sequence[str],
    reader: ReadsPages,
    *,
    max_pages: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[PageCopy]:
    """Read pages in the order of ``urls``.

    Args:
        urls: Addresses; those after the first ``max_pages`` are left out, which is logged.
        reader: Reads one page; its base path is learned from ``urls`` first.
        max_pages: Limit of pages.
        on_progress: Called with (pages read, pages to read) after each page.

    Yields:
        One copy per page, at most a few of them held at a time.

    Raises:
        SystemFailure: The page host is unreachable.
    """
    chosen = urls[:max_pages]
    if len(chosen) < len(urls):
        log.warning("%d of %d pages are read (source.max_pages)", len(chosen), len(urls))
    reader.learn_base_path(chosen)
    copies = map(reader.read, chosen) if reader.reads_files else _fetched(chosen, reader)
    for done, copy in enumerate(copies, start=1):
        yield copy
        if on_progress is not None:
            on_progress(done, len(chosen))


def _fetched(urls: Sequence[str], reader: ReadsPages) -> Iterator[PageCopy]:
    """The pages, at most ``PER_HOST`` of a host at a time."""
    hosts = Counter(map(host_of, urls))
    turns = {host: BoundedSemaphore(PER_HOST) for host in hosts}

    def read(url: str) -> PageCopy:
        with turns[host_of(url)]:
            return reader.read(url)

    return in_order(read, urls, workers=PER_HOST * max(1, min(len(hosts), MOST_HOSTS)))
