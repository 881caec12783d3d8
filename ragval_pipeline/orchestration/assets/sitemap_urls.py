"""``sitemap_urls``: every page that the site's sitemap names."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.orchestration.assets.common import suite_asset
from ragval_pipeline.orchestration.external import observed_sitemap, sitemap_deps
from ragval_pipeline.orchestration.measuring import log_crash, reading_the_suite, reading_the_world
from ragval_pipeline.orchestration.metadata import numbers, table
from ragval_pipeline.orchestration.names import SITEMAP_URLS, resource_key, selected_groups
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.run_place import purge_abandoned, run_place
from ragval_pipeline.sources.inventory import SiteInventory, take_inventory, unread_inventory
from ragval_pipeline.suite.load import check_variables, resolve_suite
from ragval_pipeline.suite.model import Suite


def build_sitemap_urls(suite: Suite, given: SiteInventory | None = None) -> dg.AssetsDefinition:
    """The asset; it raises when the sitemap cannot be read whole, after what needs no site was measured.

    Dagster skips whatever is downstream of a step that raised, so this step sees to the report itself: the run is red,
    a retry from failure reads the sitemap again, and the report holds metadata and queries all the same.

    Args:
        suite: The suite, possibly with placeholders.
        given: The site in place of what the sitemap says; None: it is read.
    """

    @suite_asset(
        suite,
        SITEMAP_URLS,
        kinds={"xml"},
        deps=sitemap_deps(suite),
        resources=("qdrant", "embedder"),
        description=__doc__,
    )
    def sitemap_urls(context: dg.AssetExecutionContext) -> dg.MaterializeResult[SiteInventory]:
        if given is not None:
            return dg.MaterializeResult(value=given)
        with reading_the_suite():
            resolved = ready_suite(suite, context.run.tags)
        purge_abandoned(context.instance, run_place(context, resolved))
        progress_of(SITEMAP_URLS)(0, None)
        with reading_the_world():
            try:
                inventory = read_inventory(resolved)
            except SystemFailure as failure:
                _measure_the_rest(context, suite, resolved, failure)
                raise
        progress_of(SITEMAP_URLS)(1, 1)
        if inventory.configured:
            context.log_event(observed_sitemap(suite, inventory))
        return dg.MaterializeResult(value=inventory, metadata=_metadata(inventory))

    return sitemap_urls


def _measure_the_rest(context: dg.AssetExecutionContext, suite: Suite, resolved: Suite, failure: SystemFailure) -> None:
    """Write the report of what needs no site; a defect in doing so must not hide why the sitemap could not be read."""
    from ragval_pipeline.orchestration.run import run_without_site

    assert resolved.source is not None
    names = ("qdrant", "embedder")
    try:
        finished = run_without_site(
            suite,
            resolved,
            run_place(context, resolved),
            unread_inventory(resolved.source.sitemap, resolved.source.host_aliases, failure),
            resources={name: getattr(context.resources, resource_key(suite.suite, name)) for name in names},
        )
        context.log.error("what needs no site was measured: %s/report.html", finished.folder)
    except Exception as error:  # noqa: BLE001  the run fails with what it failed with first
        log_crash(context, SITEMAP_URLS, error)


def ready_suite(suite: Suite, tags: Mapping[str, str]) -> Suite:
    """The resolved suite, after what can be wrong by itself was looked at, before anything is asked of any system.

    Raises:
        SuiteError: A placeholder, a variable that the profile requires, a query file, or a group of the run's tags.
    """
    from ragval_pipeline.suite.queries.load import load_queries

    resolved = resolve_suite(suite)
    check_variables(resolved, only=selected_groups(tags))
    load_queries(resolved, advise=True)
    return resolved


def read_inventory(suite: Suite) -> SiteInventory:
    """The pages of a resolved suite's site; an inventory that is not configured when it names no source.

    Raises:
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    from ragval_pipeline.sources.http import HttpFetcher
    from ragval_pipeline.sources.retry import policy_of
    from ragval_pipeline.sources.sitemap import read_sitemap

    source = suite.source
    if source is None:
        return SiteInventory(configured=False)
    with HttpFetcher(timeout_s=source.timeout_s, policy=policy_of(suite)) as fetcher:
        listing = read_sitemap(source.sitemap, fetcher=fetcher)
    return take_inventory(listing, include=source.include, exclude=source.exclude, host_aliases=source.host_aliases)


def _metadata(inventory: SiteInventory) -> dict[str, Any]:
    in_scope = inventory.in_scope
    rows = [{"url": page.url, "lastmod": page.lastmod or "", "sitemap": page.sitemap} for page in in_scope]
    return {
        **numbers({"dagster/row_count": len(in_scope), "out_of_scope": len(inventory.pages) - len(in_scope)}),
        **({"sitemap": dg.MetadataValue.text(inventory.location)} if inventory.location else {}),
        "pages": table(rows, ("url", "lastmod", "sitemap")),
    }
