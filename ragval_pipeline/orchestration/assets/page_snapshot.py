"""``page_snapshot``: every in-scope page as it was found, read once into Parquet parts.

A page host that is down does not fail the asset: what needs no page is measured all the same.
"""

from contextlib import closing
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.evidence import PAGES
from ragval_pipeline.orchestration.measuring import Made, log_crash
from ragval_pipeline.orchestration.metadata import numbers
from ragval_pipeline.orchestration.names import PAGE_SNAPSHOT, is_selected, selected_groups
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.run_place import RunPlace
from ragval_pipeline.orchestration.task import Task
from ragval_pipeline.orchestration.values import PageSnapshot
from ragval_pipeline.sources.site.inventory import NO_SOURCE, SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.suite.model import Suite


def copy_pages(task: Task) -> Made:
    """The copies of the pages; none when nothing that needs pages is selected.

    A page host that fails, or a defect in reading, ends in the manifest: what needs no page is measured all the same.
    """
    if not is_selected(PAGE_SNAPSHOT, selected_groups(task.place.tags)):
        manifest = nothing_read(task.place, "no measurement that needs pages was selected")
    else:
        progress_of(PAGE_SNAPSHOT)(0, None)
        try:
            manifest = read_copies(task.suite, task.inventory, task.place)
        except Exception as error:  # noqa: BLE001  content_integrity reports it
            log_crash(task.context, PAGE_SNAPSHOT, error)
            manifest = PageCopiesManifest(run_id=task.place.run_id, crash=type(error).__name__)
    if manifest.failure is not None:
        task.context.log.error("%s", manifest.failure.error())
    failed = manifest.failure is not None or manifest.crash
    stamp = task.stamp(**{PAGES: None if failed else manifest.fingerprint})
    return Made(PageSnapshot(stamp=stamp, pages=manifest), _metadata(manifest))


def nothing_read(place: RunPlace, reason: str) -> PageCopiesManifest:
    """The manifest of a run that reads no page."""
    return PageCopiesManifest(run_id=place.run_id, configured=False, reason=reason)


def read_copies(suite: Suite, inventory: SiteInventory, place: RunPlace) -> PageCopiesManifest:
    """Read the pages of a resolved suite's site, from the built site's folder or over http(s)."""
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.http.hosts import hosts_of
    from ragval_pipeline.sources.retry import policy_of
    from ragval_pipeline.sources.site.of_suite import reader_of
    from ragval_pipeline.sources.site.page_cache import PageCache
    from ragval_pipeline.sources.site.page_copies.writer import take_copies

    source = suite.source
    if source is None or not inventory.configured:
        return nothing_read(place, NO_SOURCE)
    if inventory.failure is not None:
        return PageCopiesManifest(run_id=place.run_id, failure=inventory.failure)
    if source.site_root is None and source.folder is None and not source.fetch_pages:
        return nothing_read(place, "source.fetch_pages is off and there is no source.site_root")
    hosts = hosts_of(source, site_host=inventory.site_host)
    cache = PageCache(place.base / ".cache" / "pages.parquet", place.work / "pages_cache.parquet")
    with (
        closing(cache),
        HttpFetcher(timeout_s=source.timeout_s, policy=policy_of(suite), hosts=hosts) as fetcher,
    ):
        manifest = take_copies(
            inventory,
            reader_of(source, inventory, fetcher, cache),
            max_pages=source.max_pages,
            min_readable=source.min_readable,
            folder=place.staged_pages,
            kept_uri=str(place.kept_pages),
            run_id=place.run_id,
            on_progress=progress_of(PAGE_SNAPSHOT),
        )
        if manifest.failure is None:
            cache.keep()
        return manifest


def _metadata(manifest: PageCopiesManifest) -> dict[str, Any]:
    return {
        **numbers(
            {
                "dagster/row_count": manifest.pages,
                "readable": manifest.readable,
                "left_out": manifest.left_out,
                "seconds": round(manifest.seconds, 3),
            }
        ),
        **({"not_read": dg.MetadataValue.text(manifest.reason)} if manifest.reason else {}),
        **({"failure": dg.MetadataValue.text(str(manifest.failure.error()))} if manifest.failure else {}),
        **({"fingerprint": dg.MetadataValue.text(manifest.fingerprint)} if manifest.fingerprint else {}),
        **({"parts_folder": dg.MetadataValue.path(manifest.kept_uri)} if manifest.kept_uri else {}),
    }
