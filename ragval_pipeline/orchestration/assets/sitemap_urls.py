"""``sitemap_urls``: every page that the site's sitemap names."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.orchestration.evidence import SITE, SUITE, site_state, suite_state
from ragval_pipeline.orchestration.external import observed_sitemap
from ragval_pipeline.orchestration.measuring import Made, reading_the_suite
from ragval_pipeline.orchestration.metadata import numbers, table
from ragval_pipeline.orchestration.names import SITEMAP, SITEMAP_URLS, selected_groups
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.run_place import purge_abandoned
from ragval_pipeline.orchestration.task import Task
from ragval_pipeline.orchestration.values import SitemapUrls
from ragval_pipeline.sources.site.inventory import SiteInventory, unread_inventory
from ragval_pipeline.suite.load import check_variables
from ragval_pipeline.suite.model import Suite


def read_site(task: Task) -> Made:
    """The pages of the site.

    Raises:
        SystemFailure: The sitemap cannot be read whole.
    """
    with reading_the_suite():
        check_suite(task.suite, task.place.tags)
    purge_abandoned(task.context.instance, task.place)
    progress_of(SITEMAP_URLS)(0, None)
    with reading_the_suite():
        inventory = read_inventory(task.suite)
    progress_of(SITEMAP_URLS)(1, 1)
    if inventory.configured:
        task.context.log_event(observed_sitemap(task.key(SITEMAP), inventory))
    stamp = task.stamp(**{SUITE: suite_state(task.suite), SITE: site_state(inventory)})
    return Made(SitemapUrls(stamp=stamp, inventory=inventory), _metadata(inventory))


def unread_site(task: Task, failure: SystemFailure) -> SitemapUrls:
    """What stands for the pages of a site whose sitemap could not be read."""
    source = task.suite.source
    assert source is not None
    stamp = task.stamp(**{SUITE: suite_state(task.suite), SITE: None})
    return SitemapUrls(stamp=stamp, inventory=unread_inventory(source.location, source.host_aliases, failure))


def check_suite(suite: Suite, tags: Mapping[str, str]) -> None:
    """Look at what can be wrong by itself, before anything is asked of any system.

    Raises:
        SuiteError: A variable that the profile requires, a query file, or a group that the run's tags select.
    """
    from ragval_pipeline.suite.queries.load import load_queries

    check_variables(suite, only=selected_groups(tags))
    load_queries(suite, advise=True)


def read_inventory(suite: Suite) -> SiteInventory:
    """The pages of a resolved suite's site; an inventory that is not configured when it names no source.

    Raises:
        SuiteError: The folder or list that the suite names is wrong.
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    from ragval_pipeline.sources.http.fetch import HttpFetcher
    from ragval_pipeline.sources.http.hosts import hosts_of
    from ragval_pipeline.sources.retry import policy_of
    from ragval_pipeline.sources.site.of_suite import inventory_of

    source = suite.source
    if source is None:
        return SiteInventory(configured=False)
    with HttpFetcher(timeout_s=source.timeout_s, policy=policy_of(suite), hosts=hosts_of(source)) as fetcher:
        return inventory_of(source, fetcher)


def _metadata(inventory: SiteInventory) -> dict[str, Any]:
    in_scope = inventory.in_scope
    rows = [{"url": page.url, "lastmod": page.lastmod or "", "sitemap": page.sitemap} for page in in_scope]
    return {
        **numbers({"dagster/row_count": len(in_scope), "out_of_scope": len(inventory.pages) - len(in_scope)}),
        **({"sitemap": dg.MetadataValue.text(inventory.location)} if inventory.location else {}),
        "pages": table(rows, ("url", "lastmod", "sitemap")),
    }
