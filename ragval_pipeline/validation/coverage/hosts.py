"""Indexed pages on another host than the site's: one wrong host explains many missing and orphan pages.

What lives here: ``coverage.foreign_host`` and ``coverage.loopback_host``. What does not: folding hosts that serve the
same site, which ``source.host_aliases`` does before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.urls import fold_path, host_of, is_http_url, is_loopback_or_private
from ragval_pipeline.validation.coverage.indexed import IndexedPage

FOREIGN = "coverage.foreign_host"
LOOPBACK = "coverage.loopback_host"


@dataclass
class HostFindings:
    """Findings about hosts, and which missing and orphan pages they explain, by canonical form."""

    findings: list[Finding] = field(default_factory=list)
    cause_of_missing: dict[str, str] = field(default_factory=dict)
    cause_of_orphan: dict[str, str] = field(default_factory=dict)


def host_findings(inventory: SiteInventory, indexed: Mapping[str, IndexedPage]) -> HostFindings:
    """Find hosts that hold the site's pages in its place.

    A host is foreign when it holds a page whose path the site has too, or when no page of the index is on the site's
    host. A single page of some other site is an orphan and says nothing about hosts.
    """
    result = HostFindings()
    sitemap_is_private = any(is_loopback_or_private(page.url) for page in inventory.in_scope)
    # On a development site a private host is nothing special: another one than the site's is foreign like any other.
    missing_by_path = {_rest(page.key): page.key for page in inventory.in_scope if page.key not in indexed}
    site_paths = {_rest(page.key) for page in inventory.in_scope} - {"", "/"}
    site_hosts = {_host(page.key) for page in inventory.in_scope}
    strangers: dict[str, list[IndexedPage]] = {}
    for key, page in indexed.items():
        host = _host(key)
        if host is not None and host not in site_hosts:
            strangers.setdefault(host, []).append(page)
    all_strange = bool(strangers) and not any(_host(key) in site_hosts for key in indexed)

    loopback = [page for page in indexed.values() if _is_private(page)]
    foreign = {
        host: pages
        for host, pages in strangers.items()
        if (sitemap_is_private or not _is_private(pages[0]))
        and (all_strange or any(_rest(page.key) in site_paths for page in pages))
    }
    if loopback:
        result.findings.append(_loopback(loopback, expected=sitemap_is_private))
        if not sitemap_is_private:
            _explain(result, LOOPBACK, loopback, missing_by_path)
    if foreign:
        result.findings.append(_foreign(foreign, inventory))
        for pages in foreign.values():
            _explain(result, FOREIGN, pages, missing_by_path)
    return result


def _explain(result: HostFindings, code: str, pages: list[IndexedPage], missing_by_path: Mapping[str, str]) -> None:
    for page in pages:
        result.cause_of_orphan[page.key] = code
        missing = next((missing_by_path[path] for path in _paths(page.key) if path in missing_by_path), None)
        if missing is not None:
            result.cause_of_missing[missing] = code


def _foreign(foreign: Mapping[str, list[IndexedPage]], inventory: SiteInventory) -> Finding:
    subjects = [
        Subject(
            name=host,
            details={
                "pages": len(pages),
                "points": sum(page.points for page in pages),
                "urls": sorted(spelling for page in pages for spelling in page.spellings)[:20],
            },
        )
        for host, pages in foreign.items()
    ]
    return make_finding(FOREIGN, subjects, details={"site_host": inventory.site_host})


def _loopback(pages: list[IndexedPage], *, expected: bool) -> Finding:
    subjects = [Subject(name=spelling, page=page.key) for page in pages for spelling in page.spellings]
    finding = make_finding(LOOPBACK, subjects)
    if not expected:
        return finding
    cause = "The sitemap itself is on a private address: this is a development site."
    return finding.model_copy(update={"severity": "info", "cause": cause})


def _is_private(page: IndexedPage) -> bool:
    return is_loopback_or_private(next(iter(page.spellings)))


def _host(key: str) -> str | None:
    return host_of(key) if is_http_url(key) else None


def _paths(key: str) -> list[str]:
    """The paths under which the site may know a page: of a file's address every end, since a folder may lead it."""
    if not key.lower().startswith("file:"):
        return [_rest(key)]
    segments = fold_path(urlsplit(key).path).split("/")[1:]
    return ["/" + "/".join(segments[start:]) for start in range(len(segments))]


def _rest(key: str) -> str:
    """A canonical URL without its host."""
    host = _host(key)
    return key if host is None else key.removeprefix(f"https://{host}")
