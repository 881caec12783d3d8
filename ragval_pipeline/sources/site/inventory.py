"""The site's pages from the sitemap, and which of them are in scope (include and exclude globs)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.site.urls import FileNames, PagePaths, UrlFolder, fold_path, path_of


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A page as written in the sitemap, its unparsed ``lastmod``, and the file that lists it first."""

    url: str
    lastmod: str | None
    sitemap: str


@dataclass(frozen=True, slots=True)
class SitemapListing:
    """All pages, each once, in file order."""

    entries: tuple[SitemapEntry, ...]
    files: tuple[str, ...]
    location: str

    @property
    def site_host(self) -> str | None:
        """The host of most pages; None without any."""
        hosts = Counter(host for entry in self.entries if (host := host_of(entry.url)))
        return max(hosts, key=hosts.__getitem__, default=None)


_W3C = re.compile(
    r"(?P<date>\d{4}(-\d{2}(-\d{2})?)?)([T ](?P<clock>\d{2}:\d{2}(:\d{2}(\.\d+)?)?)\s?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)


def parse_lastmod(text: str | None) -> datetime | None:
    """Read a W3C date and time (https://www.w3.org/TR/NOTE-datetime), as sitemaps use it.

    Args:
        text: ``2025``, ``2025-01``, ``2025-01-31`` or a date with a time; a blank instead of the ``T`` is accepted.

    Returns:
        An aware time in UTC; the first instant of a year, month or day without a time; UTC is assumed without a
        zone. None if the text is not such a date.
    """
    match = _W3C.fullmatch((text or "").strip())
    if match is None:
        return None
    date = match["date"] + "-01" * (2 - match["date"].count("-"))
    clock, zone = match["clock"] or "00:00", (match["zone"] or "Z").upper()
    try:
        return datetime.fromisoformat(f"{date}T{clock}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class Scope:
    """Include and exclude globs: ``*`` stays within a segment, ``**`` spans any number of segments.

    ``/docs/**`` includes ``/docs``. Exclude wins; without an include everything is in scope. A trailing slash,
    ``index.html`` and ``.html`` make no difference, neither on a page nor on a glob.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = tuple((glob, _compiled(glob)) for glob in include)
        self._exclude = tuple((glob, _compiled(glob)) for glob in exclude)

    def contains(self, url: str) -> bool:
        """Whether the page is in scope."""
        return self.reason_out(url) is None

    def reason_out(self, url: str) -> str | None:
        """Why the page is out of scope, in words, or None if it is in scope."""
        path = fold_path(path_of(url))
        path = path if path.startswith("/") else f"/{path}"  # a file's
        for glob, pattern in self._exclude:
            if pattern.fullmatch(path):
                return f"excluded by '{glob}'"
        if self._include and not any(pattern.fullmatch(path) for _, pattern in self._include):
            return "not included by " + ", ".join(f"'{glob}'" for glob, _ in self._include)
        return None


def _compiled(glob: str) -> re.Pattern[str]:
    segments = fold_path(_decoded(glob)).removeprefix("/").split("/")
    if segments == [""]:
        return re.compile("/")
    last = len(segments) - 1
    text = "".join(_segment_pattern(segment, at_end=i == last) for i, segment in enumerate(segments))
    return re.compile(text, re.DOTALL)


def _segment_pattern(segment: str, *, at_end: bool) -> str:
    if segment == "**":
        return "(?:/.*)?" if at_end else "(?:/[^/]*)*"
    if segment == "*":
        return "/[^/]+"
    parts = re.split(r"(\*+)", segment)
    return "/" + "".join(
        "[^/]*" if part == "*" else ".*" if part.startswith("*") else re.escape(part) for part in parts
    )


def _decoded(glob: str) -> str:
    """Bring the glob into the form of ``path_of``; a whole address is reduced to its path."""
    if is_http_url(glob):
        return path_of(glob)
    # These two end a path in an address, but not in a glob.
    path = glob.replace("?", "%3F").replace("#", "%23")
    return path_of("http://glob" + ("" if path.startswith("/") else "/") + path)


#: How points name their page: by an http(s) URL, by that or a file path, or by any id.
Addresses = Literal["urls", "files", "ids"]

#: Reason for not measuring what needs a site.
NO_SOURCE = "the suite has no source"


#: Module name of pages above all modules.
START = "/"


class HostFailure(BaseModel):
    """Why reading ended early: the page host did not answer, or refused access."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    problem: str
    code: str
    system: str
    subject: str
    remedy: str = ""
    attempts: int = 1
    details: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, failure: SystemFailure) -> HostFailure:
        """The facts of a failure."""
        return cls(**{name: getattr(failure, name) for name in cls.model_fields})

    def error(self) -> SystemFailure:
        """The failure as it was raised."""
        return SystemFailure(**self.model_dump())


class SitePage(BaseModel):
    """One page of the site.

    Attributes:
        url: As first written in the sitemap.
        key: Canonical form; pages with the same key are the same page.
        lastmod: From the sitemap, or None.
        sitemap: The sitemap file that names the page.
        out_of_scope: Why the page is not in scope, or None.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    url: str
    key: str
    lastmod: str | None = None
    sitemap: str = ""
    out_of_scope: str | None = None

    @property
    def in_scope(self) -> bool:
        """Whether the page is in scope."""
        return self.out_of_scope is None


class SiteInventory(BaseModel):
    """Every page that the sitemap names, each once.

    Attributes:
        configured: False if the suite has no source; then there are no pages to compare with.
        location: Where the pages are listed, without credentials.
        site_host: The host of most pages, or None.
        host_aliases: Hosts that serve the same site.
        pages: In the sitemap's order.
        files: Sitemap files read.
        markdown: Whether an address with ``.md`` appended is the same page.
        of_files: Whether pages are files of the folder ``location``, and ``sitemap`` is the path of each in it.
        addresses_given: Further addresses that pages gave when they were read, canonical form to the page's key.
        failure: Why the sitemap could not be read, or None; then the pages are not known.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    configured: bool = True
    location: str | None = None
    site_host: str | None = None
    host_aliases: tuple[str, ...] = ()
    pages: tuple[SitePage, ...] = ()
    files: tuple[str, ...] = ()
    markdown: bool = False
    of_files: bool = False
    addresses_given: dict[str, str] = Field(default_factory=dict)
    failure: HostFailure | None = None

    @property
    def addresses(self) -> Addresses:
        """How points can name the pages."""
        return "files" if self.of_files else "urls" if self.configured else "ids"

    @property
    def in_scope(self) -> list[SitePage]:
        """Pages in scope, in the sitemap's order."""
        return [page for page in self.pages if page.in_scope]

    @property
    def scope_urls(self) -> dict[str, str]:
        """In-scope pages: canonical form to the address in the sitemap."""
        return {page.key: page.url for page in self.pages if page.in_scope}

    def folder(self) -> UrlFolder:
        """The canonicaliser for this site."""
        paths: list[FileNames | PagePaths] = []
        if self.of_files:
            paths.append(FileNames(self.location or "", {page.sitemap: page.key for page in self.pages}))
        if self.site_host is not None:
            paths.append(PagePaths({page.url: page.key for page in self.pages}))
        return UrlFolder(
            site_host=self.site_host,
            host_aliases=self.host_aliases,
            markdown=self.markdown,
            paths=paths,
            others=self.addresses_given,
        )

    def check_readable(self) -> None:
        """Raise the SystemFailure of reading the sitemap, if any: for what needs the site."""
        if self.failure is not None:
            raise self.failure.error()


def take_inventory(
    listing: SitemapListing,
    *,
    include: Iterable[str],
    exclude: Iterable[str],
    host_aliases: Iterable[str],
    markdown: bool = False,
    of_files: bool = False,
) -> SiteInventory:
    """The inventory of a sitemap; variants of one address count once, under the first."""
    aliases, site_host = tuple(host_aliases), listing.site_host
    folder = UrlFolder(site_host=site_host, host_aliases=aliases, markdown=markdown)
    scope = Scope(tuple(include), tuple(exclude))
    pages: dict[str, SitePage] = {}
    for entry in listing.entries:
        key = folder.key(entry.url)
        if key not in pages:
            pages[key] = SitePage(
                url=entry.url,
                key=key,
                lastmod=entry.lastmod,
                sitemap=entry.sitemap,
                out_of_scope=scope.reason_out(entry.url),
            )
    return SiteInventory(
        location=listing.location,
        site_host=site_host,
        host_aliases=aliases,
        pages=tuple(pages.values()),
        files=listing.files,
        markdown=markdown,
        of_files=of_files,
    )


def unread_inventory(location: str, host_aliases: Iterable[str], failure: SystemFailure) -> SiteInventory:
    """The inventory of a site whose sitemap could not be read; its host is taken to be the sitemap's."""
    aliases = tuple(host_aliases)
    return SiteInventory(site_host=host_of(location), host_aliases=aliases, failure=HostFailure.of(failure))


def modules_of(pages: Iterable[SitePage]) -> dict[str, str]:
    """The module of each in-scope page by its key: the path segment after their common prefix.

    ``/docs/module-1-ros2/ch1`` is in ``module-1-ros2``; ``/docs/intro`` is its own module, ``intro``. A page at the
    common prefix, such as the home page of a site below a base path, is in no module: ``START``. So are all pages of a
    site of several pages without folders.
    """
    paths = {page.key: [part for part in path_of(page.url).split("/") if part] for page in pages if page.in_scope}
    shared = _shared_prefix(list(paths.values()))
    if len(paths) > 1 and all(len(parts) <= shared + 1 for parts in paths.values()):
        return dict.fromkeys(paths, START)
    return {key: parts[shared].removesuffix(".html") if len(parts) > shared else START for key, parts in paths.items()}


def _shared_prefix(paths: list[list[str]]) -> int:
    if not paths:
        return 0
    # A page that is a prefix of every other path (/docs/) must not hide the level below it.
    folders = [path[:-1] for path in paths if len(path) > 1] or [[]]
    shortest = min(len(folder) for folder in folders)
    for depth in range(shortest):
        if len({folder[depth] for folder in folders}) > 1:
            return depth
    return shortest
