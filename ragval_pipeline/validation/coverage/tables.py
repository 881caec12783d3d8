"""The pages of site and index as the tables under the views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.sources.site.inventory import parse_lastmod
from ragval_pipeline.sources.site.urls import without_fragment
from ragval_pipeline.text.times import utc_text
from ragval_pipeline.validation.coverage.addresses import is_document
from ragval_pipeline.validation.coverage.counterparts import of_another_site
from ragval_pipeline.validation.views.tables import raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa

    from ragval_pipeline.sources.site.inventory import SiteInventory
    from ragval_pipeline.validation.coverage.indexed import IndexedPage


def site_table(inventory: SiteInventory) -> pa.Table:
    """``_site``: a row for each page that the site lists."""
    return _site(
        {
            "url": page.url,
            "page_key": page.key,
            "lastmod": page.lastmod,
            "sitemap": page.sitemap,
            "in_scope": page.in_scope,
            "out_of_scope": page.out_of_scope,
        }
        for page in inventory.pages
    )


def with_moments(site: pa.Table) -> pa.Table:
    """``_site`` of a kept run, whose file holds dates as written only."""
    return _site(site.to_pylist())


def _site(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    told = [
        {**row, "nth": nth, "modified": _moment(parse_lastmod(row["lastmod"])), "is_document": is_document(row["url"])}
        for nth, row in enumerate(rows, 1)
    ]
    return table_of(told, raw_schemas()["_site"])


def addresses_table(indexed: Mapping[str, IndexedPage], site_keys: Iterable[str], points: int) -> pa.Table:
    """``_addresses``: a row for each address under which a page is stored.

    Args:
        indexed: Pages of the index by canonical form.
        site_keys: Canonical forms of the pages in scope.
        points: Points of the collection.
    """
    elsewhere = of_another_site(indexed, list(site_keys), points)
    rows = [
        {
            "page_key": key,
            "source_url": address,
            "bare": without_fragment(address),
            "points": count,
            "newest": _moment(page.newest),
            "is_document": is_document(key),
            "another_site": elsewhere.get(key),
            "chunks": sorted(page.chunks_of(address)),
        }
        for key, page in indexed.items()
        for address, count in page.spellings.items()
    ]
    return table_of(rows, raw_schemas()["_addresses"])


def run_table(now: datetime, site: str | None = None, **known: Any) -> pa.Table:
    """``_run``: the time from which times are in the future, where the site's pages are listed, and what else is known.

    ``known`` are further columns of the view.
    """
    return table_of([{"now": utc_text(now), "site": site or None, **known}], raw_schemas()["_run"])


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else utc_text(moment)
