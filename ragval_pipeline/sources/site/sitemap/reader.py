"""The pages of a sitemap: finding it, following indexes, listing every page once."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urldefrag

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.calls import in_order
from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.site.build_folder import file_inside
from ragval_pipeline.sources.site.inventory import SitemapEntry, SitemapListing
from ragval_pipeline.sources.site.sitemap.file import (
    SitemapBytes,
    as_path,
    fetch,
    fetch_bytes,
    malformed,
    parse_sitemap,
    read_bytes,
)
from ragval_pipeline.sources.site.urls import UrlFolder, join, path_of
from ragval_pipeline.text.printing import shown_url, without_login

log = logging.getLogger(__name__)
#: Files of an index fetched in parallel.
AT_A_TIME = 4
_ROBOTS_LINE = re.compile(r"^[\ufeff \t\r]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)


#: Limits: pages, duplicates included; depth of indexes; files.
MAX_URLS, MAX_DEPTH, MAX_FILES = 500_000, 5, 1000


def read_sitemap(location: str | Path, *, fetcher: HttpFetcher | None) -> SitemapListing:
    """Read a sitemap completely, including its indexes.

    Args:
        location: Address or path of a sitemap or index, gzipped or not. A site's root address means the ``Sitemap``
            lines of its robots.txt, or else its ``/sitemap.xml``. Any other address that ends with a slash may be
            that of a site in a folder, with its ``sitemap.xml`` there.
        fetcher: Opens addresses; None when nothing may be fetched.

    Raises:
        SystemFailure: ``source.unreachable`` or ``source.malformed``, for the first file that cannot be read
        completely: a partial sitemap is never used.
    """
    walk = _Walk(fetcher)
    text = str(location)
    if is_http_url(location) and path_of(location) == "/":
        walk.read_site(location)
    elif is_http_url(location) and path_of(location).endswith("/"):
        walk.read_folder(location)
    elif isinstance(location, Path) or "://" not in text or text.lower().startswith("file:"):
        walk.read(as_path(text), depth=0)
    else:
        walk.read(text, depth=0)
    return walk.listing(shown_url(text))


class _Walk:
    """The state of reading: files seen, and hosts that an index may refer to."""

    def __init__(self, fetcher: HttpFetcher | None) -> None:
        self._fetcher = fetcher
        self._named = 0
        self._seen: set[str] = set()
        self._hosts: set[str | None] = set()
        self._entries: dict[str, SitemapEntry] = {}
        self._files: list[str] = []
        self._folder = UrlFolder()

    def listing(self, location: str) -> SitemapListing:
        return SitemapListing(tuple(self._entries.values()), tuple(self._files), location)

    def read_site(self, root: str) -> None:
        answer = fetch(join(root, "/robots.txt"), self._fetcher)
        text = answer.body.decode("utf-8", errors="replace") if answer.ok else ""
        declared = [join(answer.final_url, line) for line in _ROBOTS_LINE.findall(text)]
        found = [url for url in declared if is_http_url(url)] or [join(root, "/sitemap.xml")]
        self._hosts |= {self._host(url) for url in found}
        for url in found:
            self.read(url, depth=0)

    def read_folder(self, folder: str) -> None:
        inside = join(folder, "sitemap.xml")
        self.read(inside if fetch(inside, self._fetcher).ok else folder, depth=0)

    def read(self, location: str | Path, *, depth: int) -> None:
        if self._is_new(location):
            self._use(self._bytes(location), depth=depth)

    def _bytes(self, location: str | Path) -> SitemapBytes:
        return fetch_bytes(location, self._fetcher) if isinstance(location, str) else read_bytes(location)

    def _use(self, source: SitemapBytes, *, depth: int) -> None:
        self._hosts |= {self._host(url) for url in (source.location, source.final_url) if url}
        self._files.append(source.location)
        parsed = parse_sitemap(source.body, location=source.location, max_entries=MAX_URLS - self._named)
        if parsed.kind == "urlset":
            self._named += len(parsed.entries)
            for url, lastmod in parsed.entries:
                # A page is the same with a login, which no file may show.
                page = without_login(url)
                self._entries.setdefault(page, SitemapEntry(page, lastmod, source.location))
            return
        if depth == MAX_DEPTH and parsed.entries:
            raise malformed(source.location, f"sitemap indexes nested more than {MAX_DEPTH} deep")
        self._read_children(source, [loc for loc, _ in parsed.entries], depth=depth + 1)

    def _read_children(self, parent: SitemapBytes, locs: list[str], *, depth: int) -> None:
        """Read the files of an index in order; files on known hosts are fetched ahead."""
        ahead = self._ahead(parent, locs)
        waiting = in_order(lambda url: (url, _outcome(self._bytes, url)), ahead, workers=AT_A_TIME)
        expected = set(ahead)
        for loc in locs:
            child = self._child(parent, loc)
            if not self._is_new(child):
                continue
            if child in expected:
                fetched = next(outcome for url, outcome in waiting if url == child)
                if isinstance(fetched, SystemFailure):
                    raise fetched
                self._use(fetched, depth=depth)
            else:
                self._use(self._bytes(child), depth=depth)

    def _ahead(self, parent: SitemapBytes, locs: list[str]) -> list[str]:
        if parent.final_url is None:
            return []
        urls = dict.fromkeys(join(parent.final_url, loc) for loc in locs)
        known = [
            url
            for url in urls
            if is_http_url(url) and self._host(url) in self._hosts and urldefrag(url).url not in self._seen
        ]
        return known[: MAX_FILES - len(self._seen)]

    def _is_new(self, location: str | Path) -> bool:
        """Whether the file is unread: an index may name itself, or a file twice."""
        name = urldefrag(location).url if isinstance(location, str) else str(location.resolve())
        if name in self._seen:
            log.warning("%s is listed more than once in the sitemap indexes; it is read once", shown_url(name))
            return False
        if len(self._seen) == MAX_FILES:
            raise malformed(shown_url(name), f"more than {MAX_FILES:,} sitemap files")
        self._seen.add(name)
        return True

    def _child(self, parent: SitemapBytes, loc: str) -> str | Path:
        if parent.final_url is None:
            return _beside(Path(parent.location), loc)
        url = join(parent.final_url, loc)
        if not is_http_url(url):
            raise malformed(parent.location, f"the index names {shown_url(loc)[:200]!r}, which is not an http(s) URL")
        if self._host(url) not in self._hosts:
            problem = f"the index points to another host: {shown_url(url)[:200]}"
            remedy = "Declare that sitemap in robots.txt, or set it in source.sitemap."
            raise malformed(parent.location, problem, remedy)
        return url

    def _host(self, url: str) -> str | None:
        return host_of(self._folder.key(url))


def _beside(index: Path, loc: str) -> str | Path:
    """Find a file named by a local index: first in the same folder, where builds write it, then at its address."""
    folder = index.resolve().parent
    path = unquote(path_of(loc)) if is_http_url(loc) else loc
    for candidate in (path.lstrip("/"), Path(path).name):
        found = file_inside(folder, candidate)
        if found is not None:
            return found
    if is_http_url(loc):
        return loc
    raise malformed(
        str(index), f"the index names {shown_url(loc)[:200]!r}, which is neither a URL nor a file next to it"
    )


def _outcome(read: Callable[[str], SitemapBytes], url: str) -> SitemapBytes | SystemFailure:
    """The bytes or the failure; only the first failure in index order counts."""
    try:
        return read(url)
    except SystemFailure as failure:
        return failure
