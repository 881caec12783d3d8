"""Indexed pages on another host than the site's: one wrong host explains many missing and orphan pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Aspect, Finding, Subject
from ragval_pipeline.sources.site.file_names import is_file_path
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.urls import fold_path, host_of, is_http_url, is_loopback_or_private
from ragval_pipeline.validation.coverage.indexed import Covered, IndexedPage
from ragval_pipeline.validation.detectors import detector

#: Addresses that a host's details name.
_SHOWN = 20  # shown
FOREIGN = "coverage.foreign_host"
LOOPBACK = "coverage.loopback_host"


@detector(FOREIGN, LOOPBACK, needs=Covered)
def host_findings(covered: Covered) -> Iterator[Finding]:
    """Find hosts that hold the site's pages in its place.

    A host is foreign when it holds a page whose path the site has too, pages that have the site's paths behind one base
    path, or when no page of the index is on the site's host. A single page of some other site is an orphan and says
    nothing about hosts.
    """
    inventory, indexed = covered.inventory, covered.indexed
    if not covered.comparable:
        return
    sitemap_is_private = any(is_loopback_or_private(page.url) for page in inventory.in_scope)
    # On a development site a private host is nothing special: another one than the site's is foreign like any other.
    site_keys = [page.key for page in inventory.in_scope]
    site_hosts = {_host(page.key) for page in inventory.in_scope}
    strangers: dict[str, list[IndexedPage]] = {}
    for key, page in indexed.items():
        host = _host(key)
        if host is not None and host not in site_hosts:
            strangers.setdefault(host, []).append(page)
    all_strange = bool(strangers) and not any(_host(key) in site_hosts for key in indexed)

    # What is indexed under the site's own address as well lacks nothing by standing under another.
    loopback = [page for page in indexed.values() if _is_private(page, of_files=inventory.of_files)]
    counterparts_of = {
        host: site_pages_of((page.key for page in pages), site_keys) for host, pages in strangers.items()
    }
    foreign = {
        host: pages
        for host, pages in strangers.items()
        if (sitemap_is_private or not _is_private(pages[0], of_files=inventory.of_files))
        and (all_strange or any(_rest(key) != "/" for key in counterparts_of[host].values()))
    }
    if loopback and sitemap_is_private:
        yield _development(loopback)
    elif loopback:
        public = site_pages_of((page.key for page in loopback), site_keys)
        yield _loopback(loopback, public, inventory, indexed)
    if foreign:
        instead = {host: set(pages.values()) - indexed.keys() for host, pages in counterparts_of.items()}
        yield _foreign(foreign, instead, inventory)


def site_pages_of(keys: Iterable[str], site_keys: Iterable[str]) -> dict[str, str]:
    """The site's page that each page of another host stands for, where there is one.

    Args:
        keys: Canonical addresses of pages of one other host.
        site_keys: Canonical addresses of the site's pages.
    """
    site_pages = {_rest(key): key for key in site_keys}
    paths: dict[str, list[str]] = {}
    for key in keys:
        paths.setdefault(_rest(key), []).append(key)
    known = counterparts(paths, site_pages)
    return {key: site_pages[known[path]] for path, same in paths.items() if path in known for key in same}


def _foreign(
    foreign: Mapping[str, list[IndexedPage]], instead: Mapping[str, set[str]], inventory: SiteInventory
) -> Finding:
    subjects = [
        Subject(
            name=host,
            pages=tuple(sorted({*(page.key for page in pages), *instead[host]})),
            details={
                "pages": len(pages),
                "points": sum(page.points for page in pages),
                "urls": sorted(spelling for page in pages for spelling in page.spellings)[:_SHOWN],
            },
        )
        for host, pages in foreign.items()
    ]
    return make_finding(FOREIGN, subjects, details={"site_host": inventory.site_host})


def _loopback(
    pages: list[IndexedPage], public: Mapping[str, str], inventory: SiteInventory, indexed: Mapping[str, IndexedPage]
) -> Finding:
    subjects = []
    for page in pages:
        known = public.get(page.key)
        details = {} if known is None else {"page_url": inventory.scope_urls[known]}
        instead = () if known is None or known in indexed else (known,)
        subjects += [Subject(name=name, page=page.key, pages=instead, details=details) for name in page.spellings]
    return make_finding(LOOPBACK, subjects)


def _development(pages: list[IndexedPage]) -> Finding:
    # Addresses that are expected are the cause of nothing.
    without = frozenset({Aspect.FIELD, Aspect.ORIGIN})
    subjects = [Subject(name=spelling, page=page.key, without=without) for page in pages for spelling in page.spellings]
    cause = "The sitemap itself has a private address: this is a development site."
    finding = make_finding(LOOPBACK, subjects, cause=cause, details={"expected": True})
    return finding.model_copy(update={"severity": "info"})


def _is_private(page: IndexedPage, *, of_files: bool) -> bool:
    """Whether nobody outside could open the page; where pages are files, their paths are as good as addresses."""
    first = next(iter(page.spellings))
    return is_loopback_or_private(first) and not (of_files and is_file_path(first))


def _host(key: str) -> str | None:
    return host_of(key) if is_http_url(key) else None


def _rest(key: str) -> str:
    """A canonical URL without its host; a file's address without its scheme, as the site would show it."""
    if key.lower().startswith("file:"):
        return fold_path(urlsplit(key).path)
    host = _host(key)
    return key if host is None else key.removeprefix(f"https://{host}")


#: Pages that one base path must explain: that a single path ends like another happens between any two sites.
MIN_SHARED = 2


def counterparts(paths: Collection[str], site_paths: Collection[str]) -> dict[str, str]:
    """The site's path for each path of another host that has one.

    A deployment below a base path (``/book/docs/intro`` for ``/docs/intro``, or the other way round) is the same site;
    the base path counts when it explains at least ``MIN_SHARED`` pages.

    Args:
        paths: Folded paths of the pages of one other host.
        site_paths: Folded paths of the site's pages.
    """
    known = frozenset(site_paths)
    found = {path: path for path in paths if path in known}
    explained: dict[tuple[str, str], dict[str, str]] = {}
    for base, site_base, path, site_path in _shifted(paths, known):
        explained.setdefault((base, site_base), {})[path] = site_path
    for _, pairs in sorted(explained.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        if len(pairs) >= MIN_SHARED:
            found = {**pairs, **found}
    return found


def _shifted(paths: Iterable[str], site_paths: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """Base path of the other host and of the site (one of them empty), path and site path of every pair that fits."""
    based: dict[str, list[tuple[str, str]]] = {}
    for site_path in site_paths:
        for base, end in _split(site_path):
            based.setdefault(end, []).append((base, site_path))
    for path in paths:
        for base, end in _split(path):
            if end in site_paths:
                yield base, "", path, end
        for base, site_path in based.get(path, ()):
            yield "", base, path, site_path


def _split(path: str) -> Iterator[tuple[str, str]]:
    """Every base path that a path can have, with the rest; the whole path leaves the root."""
    segments = path.split("/")[1:]
    for start in range(1, len(segments) + 1):
        if base := "/".join(segments[:start]):
            yield f"/{base}", "/" + "/".join(segments[start:])
