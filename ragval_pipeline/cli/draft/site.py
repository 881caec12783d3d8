"""The site of a drafted suite: the sitemap's pages, and the pages that the points name."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from ragval_pipeline.cli.draft.versions import versions_of
from ragval_pipeline.cli.looking import PATIENCE, Look
from ragval_pipeline.errors import RagvalError
from ragval_pipeline.reporting.text import one_line
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.sources.site.urls import path_of, without_fragment
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.suite.sections import SourceSettings
from ragval_pipeline.validation.self_retrieval.names import own_titles, shared_parts

#: Generated pages without content of their own, by a part of their path.
_MADE = frozenset(
    {"404", "404.html", "search", "search.html", "tags", "tag", "genindex.html", "genindex", "py-modindex.html",
     "py-modindex", "authors", "categories", "category", "archive", "print_page", "markdown-page"}
)  # fmt: skip
#: Maximum pages fetched for their headings: the user is waiting.
FETCHED = 50
#: Timeouts in seconds for all of them together, and for one.
_ALL_S, _ONE_S = 12.0, 5


@dataclass(frozen=True)
class UnindexedFolder:
    """A part of the site without indexed pages.

    Attributes:
        glob: The pages, as ``source.exclude`` names them.
        pages: Number of pages.
        made: Whether they are generated pages without content of their own.
    """

    glob: str
    pages: int
    made: bool


@dataclass(frozen=True)
class SiteLook:
    """A first look at a site.

    Attributes:
        source: Its section in the suite, without ``exclude``.
        inventory: Its pages; ``None`` if the sitemap could not be read.
        problem: Why it could not be read, one sentence; else empty.
        indexed: Keys of pages that have points.
        unindexed: Its folders without points.
    """

    source: SourceSettings
    inventory: SiteInventory | None
    problem: str = ""
    indexed: frozenset[str] = frozenset()
    unindexed: Sequence[UnindexedFolder] = field(default_factory=tuple)

    @property
    def exclude(self) -> list[str]:
        """Globs to exclude: generated pages that are not indexed."""
        return [folder.glob for folder in self.unindexed if folder.made]

    @property
    def in_scope(self) -> set[str]:
        """Keys of the pages in scope, without those to exclude."""
        from ragval_pipeline.sources.site.inventory import Scope

        scope = Scope(tuple(self.source.include), tuple(self.exclude))
        pages = self.inventory.pages if self.inventory else ()
        return {page.key for page in pages if scope.reason_out(page.url) is None}


def look_at_site(source: SourceSettings, urls: Collection[str]) -> SiteLook:
    """Read the sitemap and compare it with the addresses of the points."""
    from ragval_pipeline.sources.site.of_suite import fetch_inventory

    try:
        inventory = fetch_inventory(source, PATIENCE)
    except RagvalError as error:
        return SiteLook(source, None, problem=str(error).rstrip("."))
    fold = inventory.folder().key
    indexed = frozenset(fold(url) for url in urls) & inventory.scope_urls.keys()
    return SiteLook(source, inventory, "", indexed, unindexed_folders(inventory, indexed) if indexed else ())


def unindexed_folders(inventory: SiteInventory, indexed: Collection[str]) -> list[UnindexedFolder]:
    """The topmost folders without indexed pages, and single generated pages."""
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
    """Whether a page or folder is generated without content of its own."""
    return any(part.lower() in _MADE for part in re.split(r"/+", path.strip("/")))


def headings_of(site: SiteLook, urls: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The headings of some pages, in page order; pages that cannot be read are left out."""
    return ((url, [heading.text for heading in record.headings]) for url, record in records_of(site, urls))


def records_of(site: SiteLook, urls: Iterable[str]) -> Iterator[tuple[str, PageRecord]]:
    """Yield the readable ones of the given pages."""
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.http.hosts import hosts_of
    from ragval_pipeline.sources.site.of_suite import reader_of
    from ragval_pipeline.sources.site.page_copies.copies import record_of

    source, inventory, wanted = site.source, site.inventory, list(urls)
    if inventory is None:
        return
    with ExitStack() as stack:
        fetcher = None
        if source.site_root is None and source.folder is None:
            wanted = wanted[:FETCHED]
            hosts = hosts_of(source, site_host=inventory.site_host)
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


def site_root_of(sitemap: Path, urls: Sequence[str]) -> Path | None:
    """The folder of a sitemap file, if the pages are next to it."""
    from ragval_pipeline.sources.site.build_folder import SiteFolder

    root = sitemap.absolute().parent
    site = SiteFolder(root, None)
    site.learn_base_path(urls)
    return root if any(site.find(url) for url in urls[:50]) else None


_WORD = re.compile(r"\w")
#: Words of a first line that may be a title.
_TITLE_WORDS = 12
_MARKDOWN = re.compile(r"^#{1,4}\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class DraftPage:
    """One page, or one point if points have no page.

    Attributes:
        url: As stored; None if the points have none.
        title: Its title.
        point: One of its points.
        text: Text of that point.
        module: Its module, or None.
        headings: Headings in its points' payload or Markdown.
        points: Number of its points, in all versions.
        twins: Addresses of the same page in other versions of the documentation.
    """

    url: str | None
    title: str
    point: Point
    text: str
    module: str | None
    headings: tuple[str, ...] = ()
    points: int = 1
    twins: tuple[str, ...] = ()


def pages_of(look: Look, fields: Mapping[str, str]) -> list[DraftPage]:
    """Every page with a title, ordered by address."""
    firsts: dict[str, Point] = {}
    held = Counter[str]()
    headings: dict[str, dict[str, None]] = {}
    for point in sorted(look.points, key=lambda point: _index(look, point, fields)):
        url = _one(look, point, fields.get("source_url"))
        key = without_fragment(url) if isinstance(url, str) else point.id
        firsts.setdefault(key, point)
        held[key] += 1
        headings.setdefault(key, {}).update(dict.fromkeys(_headings_in(look, point, fields)))
    named = {key: _title(look, point, fields) for key, point in firsts.items()}
    titles = own_titles(named, shared_parts([title] for title in named.values()))
    versions = versions_of(key for key, point in firsts.items() if key != point.id)
    same: dict[tuple[str, Hashable], list[str]] = {}
    for key in sorted(titles, key=lambda key: (len(key), key)):
        same.setdefault((titles[key].casefold(), versions.get(key, key)), []).append(key)
    found = [
        DraftPage(
            url=None if key == firsts[key].id else key,
            title=titles[key],
            point=firsts[key],
            text=str(_one(look, firsts[key], fields.get("text")) or ""),
            module=_module(look, firsts[key], fields),
            headings=tuple(headings[key]),
            points=sum(held[each] for each in (key, *twins)),
            twins=tuple(twins),
        )
        for key, *twins in same.values()
        if _WORD.search(titles[key])
    ]
    return sorted(found, key=lambda page: page.url or page.point.id)


def shared_folder(urls: Sequence[str]) -> str | None:
    """The common path prefix of all pages, such as ``/docs``; None if there is none, or fewer than two pages."""
    paths = {tuple(path_of(url).strip("/").split("/")) for url in urls if is_http_url(url)}
    if len(paths) < 2:
        return None
    # At most one of several different paths is the folder itself, such as /docs/; all others are below it.
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    shared = [names[0] for names in levels]
    return "/" + "/".join(shared) if any(shared) else None


def _module(look: Look, point: Point, fields: Mapping[str, str]) -> str | None:
    module = _one(look, point, fields.get("module"))
    return str(module) if isinstance(module, str | int) else None


def _headings_in(look: Look, point: Point, fields: Mapping[str, str]) -> list[str]:
    """The last heading of the point's path, and Markdown headings of its text."""
    path = _one(look, point, fields.get("headings"))
    named = [path[-1]] if isinstance(path, list) and path and isinstance(path[-1], str) else []
    named += [path] if isinstance(path, str) else []
    text = _one(look, point, fields.get("text"))
    return named + (_MARKDOWN.findall(text) if isinstance(text, str) else [])


def _title(look: Look, point: Point, fields: Mapping[str, str]) -> str:
    """Its title, else its first heading, else the end of its address, else the beginning of its text."""
    headings = _one(look, point, fields.get("headings"))
    url = _one(look, point, fields.get("source_url"))
    candidates = (
        _one(look, point, fields.get("title")),
        headings[0] if isinstance(headings, list) else headings,
        _words_of(url) if isinstance(url, str) else None,
        _beginning(_one(look, point, fields.get("text"))),
    )
    return next((one_line(entry)[:200] for entry in candidates if isinstance(entry, str) and entry.strip()), "")


def _words_of(url: str) -> str:
    last = re.split(r"[\\/]", path_of(url).rstrip("/"))[-1]
    last = last.removesuffix(".html") if is_http_url(url) else last.rpartition(".")[0] or last
    return " ".join(re.split(r"[-_+]+", last))


def _beginning(text: Any) -> str | None:
    """The first line of a text, unless it is a sentence or part of one."""
    line = text.strip().partition("\n")[0].strip() if isinstance(text, str) else ""
    is_title = 0 < len(line.split()) <= _TITLE_WORDS and line[-1] not in ".,:;" and not line[0].islower()
    return line if is_title else None


def _index(look: Look, point: Point, fields: Mapping[str, str]) -> int:
    index = _one(look, point, fields.get("chunk_index"))
    return index if isinstance(index, int) else 0


def _one(look: Look, point: Point, path: str | None) -> Any:
    values = Look(look.facts, [point]).values(path) if path else []
    return values[0] if values else None
