"""Whether an index holds the site's pages under another address: one setting is wrong then, not every page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ragval_pipeline.sources.http.addresses import host_of, is_loopback_or_private, split_url
from ragval_pipeline.sources.site.urls import fold_path
from ragval_pipeline.validation.coverage.hosts import counterparts
from ragval_pipeline.validation.report import ValidationReport

#: Findings about pages or hosts that this replaces for all of them.
SAID_HERE = frozenset({"coverage.foreign_host", "coverage.loopback_host"})


@dataclass(frozen=True)
class Elsewhere:
    """The other address of the site's pages, if no page is stored under its own.

    Attributes:
        stored: Host and base path in the index, without the scheme.
        own: Host and base path of the site.
        found: Pages of the site found there.
        of: Pages of the site.
    """

    stored: str
    own: str
    found: int
    of: int

    def told(self) -> str:
        """A clause that says where the pages are, and which setting maps one address to the other."""
        every = f"all {self.of:,}" if self.found == self.of else f"{self.found:,} of {self.of:,}"
        where = f"{every} pages are in the index under {self.stored} instead of {self.own}"
        missing = f", {self.of - self.found:,} not at all" if self.found < self.of else ""
        return f"{where}{missing}: {self._remedy()}"

    def _remedy(self) -> str:
        host, own = self.stored.split("/")[0], self.own.split("/")[0]
        if host != own and is_loopback_or_private(f"http://{host}"):
            return "ingest them from the public host"
        if host == own or "/" in self.stored + self.own:
            return "correct the stored URLs, or set source.sitemap to the sitemap of the site that was ingested"
        return f"source.host_aliases: [{host}] says that both are the same site"


def elsewhere(report: ValidationReport) -> Elsewhere | None:
    """The other address, if no page has its own and most of the site's pages are under one other; else None."""
    coverage = report.coverage_report
    missing, extra = coverage.missing_urls or (), coverage.extra_urls or ()
    if coverage.indexed_urls or not missing or not extra:
        return None
    own_host = Counter(host_of(url) or "" for url in missing).most_common(1)[0][0]
    site = {_path(url) for url in missing}
    stored: dict[str, set[str]] = {}
    for url in extra:
        stored.setdefault(host_of(url) or "", set()).add(_path(url))
    moves = Counter(
        (f"{host}{_base(path, page)}", f"{own_host}{_base(page, path)}")
        for host, paths in stored.items()
        for path, page in counterparts(paths, site).items()
    )
    if not moves:
        return None
    # Of several that explain as many pages, the shortest change.
    (there, own), found = min(moves.items(), key=lambda entry: (-entry[1], len("".join(entry[0]))))
    if found < 2 or 2 * found < len(site):
        return None
    return Elsewhere(there, own, found, len(site))


def _path(url: str) -> str:
    return fold_path(split_url(url).path)


def _base(path: str, end: str) -> str:
    """The part of a path before another one that it ends with; empty if it does not."""
    whole, rest = path.rstrip("/"), end.rstrip("/")
    return whole.removesuffix(rest) if whole.endswith(rest) else ""
