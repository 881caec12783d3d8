"""The site of a suite, whatever kind of source names its pages: its inventory, and reading its pages."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Protocol

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.calls import in_order
from ragval_pipeline.sources.site.docs_folder.listing import FolderReader, list_folder
from ragval_pipeline.sources.site.inventory import SiteInventory, take_inventory
from ragval_pipeline.sources.site.page_reader import PageCopy, PageReader
from ragval_pipeline.sources.site.sitemap.reader import read_sitemap
from ragval_pipeline.sources.site.url_lists import list_llms, list_urls
from ragval_pipeline.sources.site.urls import host_of

if TYPE_CHECKING:
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.site.page_cache import PageCache
    from ragval_pipeline.sources.site.sitemap.listing import SitemapListing
    from ragval_pipeline.suite.sections import SourceSettings


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
    min_readable: float = 1.0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[PageCopy]:
    """Read pages in the order of ``urls``.

    Args:
        urls: Addresses; those after the first ``max_pages`` are left out, which is logged.
        reader: Reads one page; its base path is learned from ``urls`` first.
        max_pages: Limit of pages.
        min_readable: Share of the pages, 0..1, that must be readable: pages of a host that fails and holds no more than
            the rest are told as unreadable.
        on_progress: Called with (pages read, pages to read) after each page.

    Yields:
        One copy per page, at most a few of them held at a time.

    Raises:
        SystemFailure: The page host, or one that holds too many of the pages, is unreachable.
    """
    chosen = urls[:max_pages]
    if len(chosen) < len(urls):
        log.warning("%d of %d pages are read (source.max_pages)", len(chosen), len(urls))
    reader.learn_base_path(chosen)
    copies = map(reader.read, chosen) if reader.reads_files else _fetched(chosen, reader, min_readable)
    for done, copy in enumerate(copies, start=1):
        yield copy
        if on_progress is not None:
            on_progress(done, len(chosen))


def _fetched(urls: Sequence[str], reader: ReadsPages, min_readable: float) -> Iterator[PageCopy]:
    """The pages, at most ``PER_HOST`` of a host at a time."""
    hosts = Counter(map(host_of, urls))
    turns = {host: BoundedSemaphore(PER_HOST) for host in hosts}
    spared = max(
        (1 - min_readable) * len(urls) + 1e-9, len(urls) > 1
    )  # rounding; one page of several that fails is a broken page
    down: dict[str | None, str] = {}

    def read(url: str) -> PageCopy:
        host = host_of(url)
        with turns[host]:
            try:
                if host not in down:
                    return reader.read(url)
            except SystemFailure as failure:
                if hosts[host] > spared:
                    raise
                down[host] = failure.problem
            return PageCopy(url, problem=down[host], host_failed=True)

    return in_order(read, urls, workers=PER_HOST * max(1, min(len(hosts), MOST_HOSTS)))


def check_files(source: SourceSettings) -> None:
    """Raise SuiteError unless the sitemap or llms.txt is there, where the suite names a file and no URL."""
    for key, place in (("sitemap", source.sitemap), ("llms", source.llms)):
        if place is not None and "://" not in place and Path(place).is_dir():
            remedy = f"A folder of Markdown or HTML is named by source.folder: {place}; else name the file in it."
            raise SuiteError(f"{place} is a folder", key=f"source.{key}", remedy=remedy)
        if place is not None and "://" not in place and not Path(place).exists():
            raise SuiteError(
                f"there is no file {place}",
                key=f"source.{key}",
                remedy="Build the site first, or correct the path; a URL begins with https://.",
            )


def inventory_of(source: SourceSettings, fetcher: HttpFetcher | None) -> SiteInventory:
    """The pages of a site, each once.

    Raises:
        SuiteError: The folder or list that the suite names cannot be read, or is wrong.
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    return take_inventory(
        _listing_of(source, fetcher),
        include=source.include,
        exclude=source.exclude,
        host_aliases=source.host_aliases,
        markdown=source.llms is not None,
    )


def reader_of(
    source: SourceSettings, inventory: SiteInventory, fetcher: HttpFetcher | None, cache: PageCache | None = None
) -> ReadsPages:
    """What reads the pages of an inventory: the built site's folder, the files that name the pages, or the host."""
    if source.folder is not None and source.site_root is None:
        return FolderReader(Path(source.folder), {page.url: page.sitemap for page in inventory.pages})
    return PageReader(
        site_root=None if source.site_root is None else Path(source.site_root),
        base_path=source.base_path,
        fetcher=fetcher,
        folder=inventory.folder(),
        cache=cache,
    )


def _listing_of(source: SourceSettings, fetcher: HttpFetcher | None) -> SitemapListing:
    if source.folder is not None:
        return list_folder(Path(source.folder), source.site_url)
    if source.urls is not None:
        return list_urls(source.urls)
    if source.llms is not None:
        return list_llms(source.llms, fetcher=fetcher)
    assert source.sitemap is not None
    return read_sitemap(source.sitemap, fetcher=fetcher)
