"""The site of a drafted suite: where it is, its pages, and which of them the index has."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ragval_pipeline.cli.looking import PATIENCE
from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.site.folders import Folder, folders_of
from ragval_pipeline.sources.site.inventory import Scope, SiteInventory
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.suite.sections import FILES, SourceSettings

#: Generated pages without content of their own, by a part of their path.
_MADE = frozenset(
    {"404", "404.html", "search", "search.html", "tags", "tag", "genindex.html", "genindex", "py-modindex.html",
     "py-modindex", "authors", "categories", "category", "archive", "print_page", "markdown-page"}
)  # fmt: skip
#: Description of what lists the pages, by kind of source.
_WHERE = {"sitemap": "the sitemap", "folder": "the folder", "urls": "the list", "llms": "llms.txt"}
#: Maximum pages fetched for their headings: the user is waiting.
FETCHED = 50
#: Timeouts in seconds for all of them together, and for one.
_ALL_S, _ONE_S = 12.0, 5


@dataclass(frozen=True)
class SiteLook:
    """A first look at a site.

    Attributes:
        source: Its section in the suite, without ``exclude``.
        inventory: Its pages; ``None`` if the sitemap could not be read.
        problem: Why it could not be read, one sentence; else empty.
        indexed: Keys of pages that have points.
        unindexed: Its folders and single pages without points, largest first.
    """

    source: SourceSettings
    inventory: SiteInventory | None
    problem: str = ""
    indexed: frozenset[str] = frozenset()
    unindexed: Sequence[Folder] = field(default_factory=tuple)

    @property
    def where(self) -> str:
        """What lists its pages."""
        return _WHERE[self.source.kind]

    @property
    def exclude(self) -> list[str]:
        """Globs to exclude: generated pages that are not indexed."""
        return [folder.glob for folder in self.unindexed if is_made(folder.glob)]

    @property
    def missing(self) -> list[Folder]:
        """Unindexed folders and pages with content: to ingest, or for the reader to leave out."""
        return [folder for folder in self.unindexed if not is_made(folder.glob)]

    @property
    def in_scope(self) -> set[str]:
        """Keys of the pages in scope, without those to exclude."""
        scope = Scope((), tuple(self.exclude))
        pages = self.inventory.pages if self.inventory else ()
        return {page.key for page in pages if scope.reason_out(page.url) is None}


def look_at_site(given: str | None, urls: Sequence[str]) -> SiteLook | None:
    """Read a site of any kind and compare it with the addresses of the points; ``None`` without one.

    All listed pages are in scope: that only part of them is stored may be the very defect.
    """
    if given is None:
        return None
    kind, place = source_kind(given)
    settings: dict[str, Any] = {kind: place}
    look = _look(settings, urls)
    if kind == "sitemap" and "://" not in place and look.inventory is not None:
        listed = [page.url for page in look.inventory.pages]
        look = replace(look, source=look.source.model_copy(update={"site_root": _site_root(Path(place), listed)}))
    if kind == "folder" and not look.indexed and urls:
        # Its configuration has no or another site address: take it from the points.
        host = usual_host(urls)
        where = FILES if host is None else f"https://{host}{shared_folder(urls) or ''}/"
        again = _look({**settings, "site_url": where}, urls)
        return again if again.indexed else look
    return look


def _look(settings: Mapping[str, Any], urls: Collection[str]) -> SiteLook:
    from ragval_pipeline.sources.site.of_suite import fetch_inventory

    source = SourceSettings.model_validate({key: value for key, value in settings.items() if value})
    try:
        inventory = fetch_inventory(source, PATIENCE)
    except RagvalError as error:
        return SiteLook(source, None, problem=str(error).rstrip("."))
    fold = inventory.folder().key
    indexed = frozenset(fold(url) for url in urls) & inventory.scope_urls.keys()
    held, lacking = [[page for page in inventory.pages if (page.key in indexed) is has] for has in (True, False)]
    return SiteLook(source, inventory, "", indexed, folders_of(lacking, held) if held else ())


def is_made(path: str) -> bool:
    """Whether a page, folder or glob is of pages that are generated without content of their own."""
    return any(part.lower() in _MADE for part in re.split(r"/+", path.strip("/")))


def records_of(site: SiteLook, urls: Iterable[str]) -> Iterator[tuple[str, PageRecord]]:
    """Yield the readable ones of the given pages."""
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.http.hosts import page_hosts_of
    from ragval_pipeline.sources.site.of_suite import reader_of
    from ragval_pipeline.sources.site.page_copies.copies import record_of

    source, inventory, wanted = site.source, site.inventory, list(urls)
    if inventory is None:
        return
    with ExitStack() as stack:
        fetcher = None
        if source.site_root is None and source.folder is None:
            wanted = wanted[:FETCHED]
            hosts = page_hosts_of(source, site_host=inventory.site_host)
            fetcher = stack.enter_context(HttpFetcher(timeout_s=_ONE_S, policy=PATIENCE, hosts=hosts))
        reader = reader_of(source, inventory, fetcher)
        listed, fold = inventory.scope_urls, inventory.folder().key
        reader.learn_base_path([*listed.values()])
        until = time.monotonic() + _ALL_S
        for url in wanted:
            if time.monotonic() > until:
                return
            try:
                copy = reader.read(listed.get(fold(url), url))
            except RagvalError:
                return  # the host is down: take headings from the points
            if copy.html is not None:
                yield url, record_of(copy, fold(url))


def _site_root(sitemap: Path, urls: Sequence[str]) -> Path | None:
    """The folder of a sitemap file, if the pages are next to it."""
    from ragval_pipeline.sources.site.build_folder import SiteFolder

    root = sitemap.absolute().parent
    site = SiteFolder(root, None)
    site.learn_base_path(urls)
    return root if any(site.find(url) for url in urls[:50]) else None


def source_kind(given: str) -> tuple[str, str]:
    """The key of ``source`` for a location, and the location, absolute unless it is a URL.

    A folder with a sitemap is a built site.
    """
    if "://" not in given:
        path = Path(given).absolute()
        if path.is_dir():
            sitemap = path / "sitemap.xml"
            return ("sitemap", str(sitemap)) if sitemap.is_file() else ("folder", str(path))
        given = str(path)
    name = given.split("?")[0].rstrip("/").rpartition("/")[2].lower()
    if name.startswith("llms") and name.endswith((".txt", ".md")):
        return "llms", given
    return ("urls" if name.endswith(".txt") and "://" not in given else "sitemap"), given


def shared_folder(urls: Sequence[str]) -> str | None:
    """The common path prefix of all pages, such as ``/docs``; None if there is none, or fewer than two pages."""
    paths = {tuple(path_of(url).strip("/").split("/")) for url in urls if is_http_url(url)}
    if len(paths) < 2:
        return None
    # At most one of several different paths is the folder itself, such as /docs/; all others are below it.
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    shared = [names[0] for names in levels]
    return "/" + "/".join(shared) if any(shared) else None


def usual_host(urls: Sequence[str]) -> str | None:
    """The host of most pages; None if there is none."""
    hosts = Counter(host for url in urls if (host := host_of(url)) is not None)
    return hosts.most_common(1)[0][0] if hosts else None
