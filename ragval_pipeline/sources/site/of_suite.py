"""The site of a suite, for any kind of source: its inventory, and reading its pages."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Protocol

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.calls import in_order
from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.http.hosts import hosts_of
from ragval_pipeline.sources.site.docs_folder.listing import FolderReader, list_folder
from ragval_pipeline.sources.site.inventory import SiteInventory, SitemapEntry, SitemapListing, take_inventory
from ragval_pipeline.sources.site.page_reader import PageCopy, PageReader
from ragval_pipeline.sources.site.sitemap.file import as_path, fetch_bytes, malformed, read_bytes
from ragval_pipeline.sources.site.sitemap.reader import MAX_URLS, read_sitemap
from ragval_pipeline.sources.site.urls import join, without_fragment
from ragval_pipeline.text.printing import shown_url, without_login

if TYPE_CHECKING:
    from ragval_pipeline.sources.site.page_cache import PageCache
    from ragval_pipeline.suite.sections import RetrySettings, SourceSettings


def list_urls(urls: Sequence[str] | Path) -> SitemapListing:
    """The pages of a list in the suite, or in a file with one address per line; ``#`` starts a comment.

    Raises:
        SuiteError: The file cannot be read, or an entry is not an http(s) address.
    """
    if isinstance(urls, Path):
        lines = _lines(urls)
        return _listing([_checked(url, f"line {number}") for number, url in lines], str(urls))
    return _listing([_checked(url, f"[{number}]") for number, url in enumerate(urls)], "the suite")


def list_llms(location: str, *, fetcher: HttpFetcher | None) -> SitemapListing:
    """The pages that an ``llms.txt`` links to, on the host of most of them.

    Raises:
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    source = fetch_bytes(location, fetcher) if is_http_url(location) else read_bytes(as_path(location))
    text = source.body.decode("utf-8", "replace").removeprefix("\ufeff")
    if text.lstrip()[:1] == "<":
        raise malformed(source.location, "this is a web page, not an llms.txt", "Correct source.llms")
    links = [without_fragment(join(source.final_url or "", link)) for link in _links(text)]
    urls = [url for url in links if is_http_url(url)]
    own_host = host_of(source.final_url) if source.final_url else None
    hosts = Counter(host_of(url) for url in urls)
    if own_host not in hosts:
        own_host = max(hosts, key=hosts.__getitem__, default=None)
    kept = [url for url in urls if host_of(url) == own_host]
    if not kept:
        raise malformed(source.location, "it has no list of links to pages", "Correct source.llms")
    if skipped := len(links) - len(kept):
        log.info("%d links of %s lead to other hosts and are left out", skipped, shown_url(source.location))
    return _listing(kept, source.location)


def _links(text: str) -> Iterator[str]:
    """The target of the first link of each list item, as in the format."""
    from markdown_it import MarkdownIt

    opens_item = False
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "inline" and opens_item:
            links = [child for child in token.children or [] if child.type == "link_open"]
            yield from (str(link.attrs["href"]) for link in links[:1])
        if token.type != "paragraph_open":  # found between an item and its text
            opens_item = token.type == "list_item_open"


def _lines(file: Path) -> list[tuple[int, str]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SuiteError(
            f"{file} cannot be read: {reason.lower()}",
            key="source.urls",
            remedy="Use a file with one URL per line, or a list.",
        ) from None
    stripped = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    return [(number, line) for number, line in stripped if line and not line.startswith("#")]


def _checked(url: str, place: str) -> str:
    if is_http_url(url):
        return without_fragment(url)
    shown = shown_url(url)[:80]
    raise SuiteError(
        f"{place} is not an http(s) URL: {shown!r}", key="source.urls", remedy="Use a full URL, https://..."
    )


def _listing(found: list[str], location: str) -> SitemapListing:
    if len(found) > MAX_URLS:
        raise malformed(location, f"more than {MAX_URLS:,} URLs")
    shown = shown_url(location)
    entries = {url: SitemapEntry(url, None, shown) for url in map(without_login, found)}
    return SitemapListing(tuple(entries.values()), (shown,), shown)


log = logging.getLogger(__name__)
#: Pages of a host at a time: polite to a documentation host, and enough to hide most of its latency.
PER_HOST = 4
#: Hosts at a time.
MOST_HOSTS = 4


class ReadsPages(Protocol):
    """Reads the pages of a site: ``PageReader``, or a reader of the pages' source files."""

    @property
    def reads_files(self) -> bool:
        """Whether pages come from files, without fetching."""

    def learn_base_path(self, urls: Iterable[str]) -> str | None:
        """Examine the addresses before any page is read."""

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

    Addresses after the first ``max_pages`` are left out and logged. A failing host with at most the share 1 -
    ``min_readable`` of the pages is reported as unreadable pages.

    Yields:
        One copy per page; only a few are in memory at a time.

    Raises:
        SystemFailure: The page host, or one with too many of the pages, is unreachable.
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
    """The pages, at most ``PER_HOST`` per host in parallel."""
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


def check_places(source: SourceSettings) -> None:
    """Raise SuiteError if the sitemap or llms.txt of the suite is neither an http(s) URL nor an existing file."""
    for key, place in (("source.sitemap", source.sitemap), ("source.llms", source.llms)):
        if place is None or is_http_url(place):
            continue
        if "://" in place and not place.lower().startswith("file:"):
            shown = shown_url(place)[:80]
            raise SuiteError(f"is not an http(s) URL: {shown!r}", key=key, remedy="Use a full URL, https://...")
        path = as_path(place)
        if path.is_dir():
            remedy = f"For a folder of Markdown or HTML, set source.folder: {path}; otherwise use the file in it."
            raise SuiteError(f"{path} is a folder", key=key, remedy=remedy)
        if not path.exists():
            remedy = "Build the site first, or correct the path; a URL begins with https://."
            raise SuiteError(f"there is no file {path}", key=key, remedy=remedy)


def inventory_of(source: SourceSettings, fetcher: HttpFetcher | None) -> SiteInventory:
    """The pages of a site, each once.

    Raises:
        SuiteError: The suite's folder or list cannot be read, or is wrong.
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    return take_inventory(
        _listing_of(source, fetcher),
        include=source.include,
        exclude=source.exclude,
        host_aliases=source.host_aliases,
        markdown=source.llms is not None,
        of_files=source.folder is not None,
    )


def fetch_inventory(source: SourceSettings, policy: RetrySettings) -> SiteInventory:
    """``inventory_of`` with the fetching that it needs, retried according to ``policy``."""
    with HttpFetcher(timeout_s=source.timeout_s, policy=policy, hosts=hosts_of(source)) as fetcher:
        return inventory_of(source, fetcher)


def reader_of(
    source: SourceSettings, inventory: SiteInventory, fetcher: HttpFetcher | None, cache: PageCache | None = None
) -> ReadsPages:
    """The reader of an inventory's pages: the built site's folder, the source files, or the host."""
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
