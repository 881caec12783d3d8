"""The site of a collection that is being drafted: what its sitemap lists, what of it is not indexed, its headings."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ragval_pipeline.cli.looking import PATIENCE, read_inventory
from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.suite.sections import SourceSettings

#: Pages that a site generator makes and nobody asks about, by a part of their path.
_MADE = frozenset(
    {"404", "404.html", "search", "search.html", "tags", "tag", "genindex.html", "genindex", "py-modindex.html",
     "py-modindex", "authors", "categories", "category", "archive", "print_page", "markdown-page"}
)  # fmt: skip
#: Pages that are fetched for their headings at most: a person waits.
FETCHED = 50
#: Seconds for all of them together, and for one.
_ALL_S, _ONE_S = 12.0, 5


@dataclass(frozen=True)
class UnindexedFolder:
    """A part of the site of which no page is indexed.

    Attributes:
        glob: The pages, as ``source.exclude`` names them.
        pages: How many they are.
        made: Whether a site generator makes such pages and nobody asks about them.
    """

    glob: str
    pages: int
    made: bool


@dataclass(frozen=True)
class SiteLook:
    """A site at first sight.

    Attributes:
        source: What the suite will say of it, before ``exclude``.
        inventory: Its pages; ``None`` when the sitemap could not be read.
        problem: Why it could not be read, one sentence; else empty.
        indexed: Keys of pages that have points.
        unindexed: Its folders that have none.
    """

    source: SourceSettings
    inventory: SiteInventory | None
    problem: str = ""
    indexed: frozenset[str] = frozenset()
    unindexed: Sequence[UnindexedFolder] = field(default_factory=tuple)

    @property
    def exclude(self) -> list[str]:
        """What is better shut out: pages that a generator makes and nobody indexed."""
        return [folder.glob for folder in self.unindexed if folder.made]

    @property
    def in_scope(self) -> set[str]:
        """Keys of the pages in scope, without those that are better shut out."""
        from ragval_pipeline.sources.site.scope import Scope

        scope = Scope(tuple(self.source.include), tuple(self.exclude))
        pages = self.inventory.pages if self.inventory else ()
        return {page.key for page in pages if scope.reason_out(page.url) is None}


def look_at_site(source: SourceSettings, urls: Collection[str]) -> SiteLook:
    """Read the sitemap and hold it against the addresses of the points."""
    try:
        inventory = read_inventory(source)
    except RagvalError as error:
        return SiteLook(source, None, problem=str(error).rstrip("."))
    fold = inventory.folder().key
    indexed = frozenset(fold(url) for url in urls) & inventory.scope_urls.keys()
    return SiteLook(source, inventory, "", indexed, unindexed_folders(inventory, indexed) if indexed else ())


def unindexed_folders(inventory: SiteInventory, indexed: Collection[str]) -> list[UnindexedFolder]:
    """The highest folders of which no page is indexed, and single pages that a generator makes."""
    pages = {page.key: [part for part in path_of(page.url).split("/") if part] for page in inventory.in_scope}
    alive = {tuple(parts[:depth]) for key, parts in pages.items() if key in indexed for depth in range(len(parts) + 1)}
    dead: dict[tuple[str, ...], int] = {}
    for key, parts in pages.items():
        if key not in indexed and parts:
            highest = (tuple(parts[:depth]) for depth in range(1, len(parts) + 1))
            top = next((folder for folder in highest if folder not in alive), tuple(parts))
            dead[top] = dead.get(top, 0) + 1
    found = []
    for top, count in dead.items():
        path = f"/{'/'.join(top)}"
        made = is_made(path)
        if made or count > 1:
            found.append(UnindexedFolder(f"{path}/**" if count > 1 else path, count, made))
    return found


def is_made(path: str) -> bool:
    """Whether a page or folder is one that a site generator makes and nobody asks about."""
    return any(part.lower() in _MADE for part in re.split(r"/+", path.strip("/")))


def headings_of(site: SiteLook, urls: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The headings of some pages, in page order; pages that cannot be read are left out."""
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.http.hosts import hosts_of
    from ragval_pipeline.sources.site.html.page_text import page_texts
    from ragval_pipeline.sources.site.page_reader import PageReader

    source, wanted = site.source, list(urls)
    with ExitStack() as stack:
        fetcher = None
        if source.site_root is None:
            wanted = wanted[:FETCHED]
            hosts = hosts_of(source, site_host=site.inventory.site_host if site.inventory else None)
            fetcher = stack.enter_context(HttpFetcher(timeout_s=_ONE_S, policy=PATIENCE, hosts=hosts))
        reader = PageReader(site_root=source.site_root, base_path=source.base_path, fetcher=fetcher)
        reader.learn_base_path(wanted)
        until = time.monotonic() + _ALL_S
        for url in wanted:
            if time.monotonic() > until:
                return
            try:
                copy = reader.read(url)
            except RagvalError:
                return  # the host is down: headings come from the points then
            if copy.html is not None:
                yield url, [text for _, text in page_texts(copy.html).headings]


def site_root_of(sitemap: Path, urls: Sequence[str]) -> Path | None:
    """The folder of a sitemap file, when the pages lie beside it."""
    from ragval_pipeline.sources.site.build_folder import SiteFolder

    root = sitemap.absolute().parent
    site = SiteFolder(root, None)
    site.learn_base_path(urls)
    return root if any(site.find(url) for url in urls[:50]) else None
