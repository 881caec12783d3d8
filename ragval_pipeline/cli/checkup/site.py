"""Whether the sitemap can be read, has pages in scope, and is the site that the points came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.check import Check, failed, note, ok, problem, skipped
from ragval_pipeline.cli.looking import PATIENCE
from ragval_pipeline.errors import RagvalError, SuiteError
from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.site.folders import folders_of, in_words
from ragval_pipeline.sources.site.of_suite import check_places, fetch_inventory
from ragval_pipeline.sources.site.urls import fold_path, path_of
from ragval_pipeline.suite.gates import required_of_site
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import SourceSettings
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.first_look.points import Look

if TYPE_CHECKING:
    from ragval_pipeline.sources.site.inventory import SiteInventory
    from ragval_pipeline.sources.site.page_reader import PageCopy


def check_site(suite: Suite, look: Look | None) -> tuple[list[Check], int]:
    """Sitemap, scope, hosts and the folder of the built site; also returns the number of pages in scope."""
    source = suite.source
    if source is None:
        message = "the suite has no source: coverage and integrity are not measured"
        return [
            _left_out("sitemap", message, required_of_site(suite), remedy="Set source.sitemap, folder, urls or llms")
        ], 0
    try:
        check_places(source)
        inventory = fetch_inventory(source, PATIENCE)
    except RagvalError as error:
        return [failed("sitemap", error)], 0
    if not inventory.in_scope:
        return [_nothing_in_scope(inventory)], 0
    pages, outside = len(inventory.in_scope), [page for page in inventory.pages if not page.in_scope]
    message = f"{plural(pages, 'page')} in scope"
    if outside:
        message += f", {len(outside):,} left out by the suite: {in_words(folders_of(outside, inventory.in_scope))}"
    return [ok("sitemap", message), *_origin(suite, inventory, look), _pages(suite, source, inventory)], pages


def _left_out(name: str, told: str, required: Sequence[str], *, remedy: str) -> Check:
    """Something that the suite leaves out of the site: a problem if a required criterion needs it."""
    if not required:
        return skipped(name, told)
    off = ", ".join(f"{criterion}: null" for criterion in required)
    message = f"{told}, and the suite requires {', '.join(required)}"
    return problem(name, message, f"{remedy}, or switch these criteria off: criteria: {{{off}}}.", exit_code=4)


def _nothing_in_scope(inventory: SiteInventory) -> Check:
    if not inventory.pages:
        return problem("sitemap", "the sitemap has no URLs", "Rebuild the site's sitemap.", exit_code=4)
    firsts = Counter(path_of(page.url).split("/")[1] for page in inventory.pages)
    starts = ", ".join(f"/{first}" for first, _ in firsts.most_common(5))
    remedy = f"Correct source.include and source.exclude: its paths start with {starts}."
    message = f"none of the sitemap's {plural(len(inventory.pages), 'URL')} is in scope"
    return problem("sitemap", message, remedy, exit_code=4)


def _origin(suite: Suite, inventory: SiteInventory, look: Look | None) -> list[Check]:
    """Whether the first points come from pages of this sitemap."""
    path = suite.payload.fields.get("source_url")
    urls = [value for value in (look.values(path) if look and path else []) if isinstance(value, str)]
    if not urls:
        return []
    fold, scope = inventory.folder().key, inventory.scope_urls
    inside = sum(fold(url) in scope for url in urls)
    told = f"{inside:,} of the first {plural(len(urls), 'point')} come from pages in scope"
    if inside:
        remedy = "The others are orphans. Widen source.include, or see coverage.orphan_page after a run."
        return [ok("origin", told) if 2 * inside >= len(urls) else note("origin", told, remedy)]
    return [problem("origin", told, _other_host(inventory, urls))]


def _other_host(inventory: SiteInventory, urls: Sequence[str]) -> str:
    hosts = Counter(host for url in urls if (host := host_of(url)) is not None)
    example = f"for example, {urls[0][:80]!r}: correct payload.fields.source_url"
    if not hosts and inventory.of_files:
        return f"The points do not name a file of {inventory.location} but, {example}, or source.folder."
    if not hosts:
        return f"The points do not have http(s) URLs but, {example}."
    host = hosts.most_common(1)[0][0]
    paths = {fold_path(path_of(page.url)) for page in inventory.in_scope}
    if host != inventory.site_host and any(fold_path(path_of(url)) in paths for url in urls):
        return f"Add {host} to source.host_aliases if it serves the same site as {inventory.site_host}."
    return f"The points come from {host}, for example {urls[0][:80]}: correct source.sitemap or source.include."


def _pages(suite: Suite, source: SourceSettings, inventory: SiteInventory) -> Check:
    """Whether pages can be read: all from a folder, or a few over http(s)."""
    urls = [page.url for page in inventory.in_scope]
    if source.site_root is not None:
        return _folder(source, urls)
    if source.folder is None and not source.fetch_pages:
        message = "source.fetch_pages is off: integrity is not measured"
        return _left_out("pages", message, required_of_site(suite, {"integrity"}), remedy="Name source.site_root")
    try:
        bad, tried = _unreadable(source, inventory, urls)
    except RagvalError as error:
        return _of_another_host(failed("pages", error), source, inventory)
    if not bad and source.folder is not None:
        at = f", at {urls[0]}" if is_http_url(urls[0]) else ""
        return ok("pages", f"read from the files of {source.folder.name}{at}")
    if not bad:
        return ok("pages", f"{plural(tried, 'page')} fetched as a sample")
    message = f"{len(bad):,} of {plural(tried, 'page')} cannot be read: {bad[0].url}: {bad[0].problem}"
    if source.folder is not None:
        return problem("pages", message, "Correct source.folder or set source.site_root.")
    remedy = "Open it from this machine, set source.site_root, or set source.fetch_pages: false."
    return note("pages", message, remedy) if len(bad) < tried else problem("pages", message, remedy, exit_code=3)


def _unreadable(
    source: SourceSettings, inventory: SiteInventory, urls: Sequence[str]
) -> tuple[Sequence[PageCopy], int]:
    """Those of a few pages that cannot be read, and the number of pages tried."""
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.http.hosts import page_hosts_of
    from ragval_pipeline.sources.site.of_suite import reader_of

    asked = list(dict.fromkeys((urls[0], urls[len(urls) // 2], urls[-1])))
    hosts = page_hosts_of(source, site_host=host_of(urls[0]))
    with HttpFetcher(timeout_s=source.timeout_s, policy=PATIENCE, hosts=hosts) as fetcher:
        reader = reader_of(source, inventory, fetcher)
        return [copy for copy in map(reader.read, asked) if copy.problem is not None], len(asked)


def _of_another_host(check: Check, source: SourceSettings, inventory: SiteInventory) -> Check:
    """Add what to do if a site is served here, but was built for another address."""
    if source.sitemap is None or host_of(source.sitemap) == inventory.site_host:
        return check
    hint = f"The sitemap lists pages of {inventory.site_host}: to read the built site instead, set source.site_root."
    return replace(check, remedy=f"{check.remedy} {hint}".strip())


def _folder(source: SourceSettings, urls: Sequence[str]) -> Check:
    from ragval_pipeline.sources.site.build_folder import SiteFolder

    assert source.site_root is not None
    try:
        site = SiteFolder(source.site_root, source.base_path)
    except SuiteError as error:
        return failed("pages", error)
    site.learn_base_path(urls)
    built = sum(site.find(url) is not None for url in urls)
    base = f", base path {site.base_path}" if site.base_path else ""
    message = f"{built:,} of {plural(len(urls), 'page')} found in {source.site_root.name}{base}"
    if built == len(urls):
        return ok("pages", message)
    remedy = "Build the site again, or correct source.site_root and source.base_path."
    return note("pages", message, remedy) if built else problem("pages", message, remedy)
