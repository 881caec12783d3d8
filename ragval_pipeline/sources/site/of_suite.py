"""The site of a suite, whatever kind of source names its pages: its inventory, and what reads its pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.sources.site.docs_folder.listing import list_folder
from ragval_pipeline.sources.site.docs_folder.reader import FolderReader
from ragval_pipeline.sources.site.inventory import SiteInventory, take_inventory
from ragval_pipeline.sources.site.page_reader import PageReader
from ragval_pipeline.sources.site.pages import ReadsPages
from ragval_pipeline.sources.site.sitemap.reader import read_sitemap
from ragval_pipeline.sources.site.url_lists import list_llms, list_urls

if TYPE_CHECKING:
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.site.page_cache import PageCache
    from ragval_pipeline.sources.site.sitemap.listing import SitemapListing
    from ragval_pipeline.suite.sections import SourceSettings


def inventory_of(source: SourceSettings, fetcher: HttpFetcher | None) -> SiteInventory:
    """The pages of a site, each once.

    Raises:
        SuiteError: The folder or list that the suite names cannot be read, or is wrong.
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    return take_inventory(
        _listing_of(source, fetcher),
        include=source.include,
        exclude=source.exclude,
        host_aliases=source.host_aliases,
        markdown=source.llms is not None,
    )


def reader_of(
    source: SourceSettings, inventory: SiteInventory, fetcher: HttpFetcher | None, cache: PageCache | None = None
) -> ReadsPages:
    """What reads the pages of an inventory: the built site's folder, the files that name the pages, or the host."""
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
