"""The assets that read: ``sitemap_urls``, ``page_snapshot`` and ``payload_snapshot``, each read once."""

from collections.abc import Collection, Mapping
from contextlib import closing
from typing import Any

from ragval_pipeline.measuring.asking import check_ways, coded_as_stored
from ragval_pipeline.measuring.connections import open_reader
from ragval_pipeline.measuring.names import (
    COLLECTION,
    FULL_TAG,
    PAGE_SNAPSHOT,
    PAYLOAD_SNAPSHOT,
    ROW_COUNT,
    SITEMAP,
    SITEMAP_URLS,
    is_selected,
    selected_groups,
)
from ragval_pipeline.measuring.parts import log_crash, problem_of
from ragval_pipeline.measuring.place import RunPlace, purge_abandoned
from ragval_pipeline.measuring.progress import progress_of
from ragval_pipeline.measuring.task import Task
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.http.hosts import page_hosts_of
from ragval_pipeline.sources.kept.evidence import Earlier, find_earlier
from ragval_pipeline.sources.site.inventory import NO_SOURCE, SiteInventory
from ragval_pipeline.sources.site.of_suite import fetch_inventory, reader_of
from ragval_pipeline.sources.site.page_cache import PageCache
from ragval_pipeline.sources.site.page_copies.addresses import of_one_page
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.site.page_copies.writer import take_copies
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.settled import stored_pages, with_pages
from ragval_pipeline.sources.snapshot.writer import Prints, take_snapshot
from ragval_pipeline.sources.stores.qdrant.change import fingerprint_of
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, check_vector_name
from ragval_pipeline.suite.absent import load_absent
from ragval_pipeline.suite.criteria import EMBEDDING, SEARCHING
from ragval_pipeline.suite.load import check_variables, naming_file_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.payload import FLAVOURS
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.suite.rules import fields_of_rules, load_rules
from ragval_pipeline.suite.traffic import load_traffic
from ragval_pipeline.validation.belonging import PARTITION
from ragval_pipeline.validation.own_rules import checked_rules
from ragval_pipeline.validation.partitions import VERSION


def read_site(task: Task) -> Mapping[str, Any]:
    """Read the pages of the site.

    Raises:
        SuiteError: The configuration is wrong.
        SystemFailure: The sitemap cannot be read completely.
    """
    check_suite(task.suite, task.place.tags)
    purge_abandoned(task.place, task.has_ended)
    progress_of(SITEMAP_URLS)(0, None)
    task.read.inventory = inventory = read_inventory(task.suite)
    progress_of(SITEMAP_URLS)(1, 1)
    if inventory.configured:
        task.observed[SITEMAP] = {"pages": len(inventory.pages), "pages_in_scope": len(inventory.in_scope)}
    return _inventory_metadata(inventory)


def check_suite(suite: Suite, tags: Mapping[str, str]) -> None:
    """Check the configuration before any call to a system.

    Raises:
        SuiteError: A variable required by the profile, a query file, a rule, or a group in the run's tags is wrong.
    """
    check_variables(suite, only=selected_groups(tags))
    load_queries(suite, advise=True)
    checked_rules(suite)
    load_absent(suite)
    load_traffic(suite)


def read_inventory(suite: Suite) -> SiteInventory:
    """The pages of a resolved suite's site; an inventory that is not configured if it has no source.

    Raises:
        SuiteError: The suite's folder or list is wrong.
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    return SiteInventory(configured=False) if suite.source is None else fetch_inventory(suite.source, suite.retry)


def _inventory_metadata(inventory: SiteInventory) -> dict[str, Any]:
    in_scope = inventory.in_scope
    return {
        ROW_COUNT: len(in_scope),
        "out_of_scope": len(inventory.pages) - len(in_scope),
        **({"sitemap": inventory.location} if inventory.location else {}),
    }


def copy_pages(task: Task) -> Mapping[str, Any]:
    """Copy the pages; none if nothing selected needs pages.

    A failing page host, or a crash in reading, is recorded in the manifest: what needs no page is still measured.
    """
    if not is_selected(PAGE_SNAPSHOT, selected_groups(task.place.tags)):
        manifest = nothing_read(task.place, "no measurement that needs pages was selected")
    else:
        progress_of(PAGE_SNAPSHOT)(0, None)
        try:
            if FULL_TAG not in task.place.tags:
                task.read.earlier = find_earlier(task.place.base, task.place.staged("earlier"))
            manifest = read_copies(task.suite, task.inventory, task.place, task.read.earlier)
        except Exception as error:  # noqa: BLE001  content_integrity reports it
            log_crash(task.log, PAGE_SNAPSHOT, error)
            manifest = PageCopiesManifest(
                run_id=task.place.run_id, crash=type(error).__name__, problem=problem_of(error)
            )
    if manifest.failure is not None:
        task.log.error("%s", manifest.failure.error())
    task.read.pages = manifest
    _settle_addresses(task)
    return _pages_metadata(manifest)


def _settle_addresses(task: Task) -> None:
    """Assign points to the pages that gave their addresses when they were read."""
    inventory, points = task.inventory, task.read.manifest
    if not task.pages.addresses or points is None or not points.parts:
        return
    stored = stored_pages(points)
    given = of_one_page(task.pages.addresses, stored)
    task.read.inventory = inventory = inventory.model_copy(update={"addresses_given": given})
    if not stored.isdisjoint(given):
        folder = task.place.staged("payload") / "settled"
        task.read.manifest = with_pages(points, inventory.folder().key, inventory.scope_urls, folder)


def nothing_read(place: RunPlace, reason: str) -> PageCopiesManifest:
    """The manifest of a run that reads no pages."""
    return PageCopiesManifest(run_id=place.run_id, configured=False, reason=reason)


def read_copies(
    suite: Suite, inventory: SiteInventory, place: RunPlace, earlier: Earlier | None = None
) -> PageCopiesManifest:
    """Read the pages of a resolved suite's site, from the built site's folder or over http(s).

    ``earlier`` is a run whose texts are used for pages that have not changed.
    """
    source = suite.source
    if source is None or not inventory.configured:
        return nothing_read(place, NO_SOURCE)
    if inventory.failure is not None:
        return PageCopiesManifest(run_id=place.run_id, failure=inventory.failure)
    if source.site_root is None and source.folder is None and not source.fetch_pages:
        return nothing_read(place, "source.fetch_pages is off and there is no source.site_root")
    hosts = page_hosts_of(source, site_host=inventory.site_host)
    cache = PageCache(place.base / ".cache" / "pages.parquet", place.work / "pages_cache.parquet")
    with (
        closing(cache),
        HttpFetcher(timeout_s=source.timeout_s, policy=suite.retry, hosts=hosts) as fetcher,
    ):
        manifest = take_copies(
            inventory,
            reader_of(source, inventory, fetcher, cache),
            max_pages=source.max_pages,
            min_readable=source.min_readable,
            folder=place.staged("pages"),
            kept_uri=str(place.kept("pages")),
            run_id=place.run_id,
            scale=suite.scale,
            earlier=earlier,
            on_progress=progress_of(PAGE_SNAPSHOT),
        )
        if manifest.failure is None:
            cache.keep()
        return manifest


def _pages_metadata(manifest: PageCopiesManifest) -> dict[str, Any]:
    return {
        ROW_COUNT: manifest.pages,
        "readable": manifest.readable,
        "left_out": manifest.left_out,
        "seconds": round(manifest.seconds, 3),
        **({"not_read": manifest.reason} if manifest.reason else {}),
        **({"failure": str(manifest.failure.error())} if manifest.failure else {}),
    }


def read_points(task: Task) -> Mapping[str, Any]:
    """Read the points of the collection.

    Raises:
        SystemFailure: Qdrant cannot be read completely.
        SuiteError: The collection has no vector with the suite's name, or cannot be searched by a mode of the suite.
    """
    payload, inventory = task.suite.payload, task.inventory

    def before(facts: CollectionFacts) -> None:
        groups = selected_groups(task.place.tags)
        _check_vector(task.suite, facts, groups)
        if groups is None or not SEARCHING.isdisjoint(groups):
            with naming_file_of(task.suite):
                check_ways(task.suite, facts, reader)
        # Before the read, so that changes during it count.
        task.read.state = fingerprint_of(reader, payload.fields.get("embedded_at"))

    with open_reader(task.qdrant, task.suite) as reader:
        task.read.manifest = manifest = take_snapshot(
            reader,
            payload=payload,
            page_key=inventory.folder().key,
            pages=inventory.scope_urls,
            folder=task.place.staged("payload"),
            kept_uri=str(task.place.kept("payload")),
            run_id=task.place.run_id,
            prints=_prints(task),
            extra=_further_fields(task.suite),
            accept=before,
            on_progress=progress_of(PAYLOAD_SNAPSHOT),
        )
        if reads_vectors(task.place.tags):
            task.read.manifest = manifest = coded_as_stored(task.suite, manifest, reader, task.embedder)
    task.observed[COLLECTION] = _observed_collection(manifest.facts, manifest.points)
    return _points_metadata(manifest)


def _prints(task: Task) -> Prints | None:
    """Where prints of the points go; None for a file: it is read once, and nobody changes what was read."""
    if task.suite.points is not None:
        return None
    place = task.place
    return Prints(place.staged("prints"), str(place.kept("prints")), vectors=reads_vectors(place.tags))


def _further_fields(suite: Suite) -> dict[str, str]:
    """Payload fields that the suite's rules read, and those that part the points, by their name in ``extra``."""
    flavour = FLAVOURS.get(suite.payload.flavour or "")
    parting = {PARTITION: suite.qdrant.partition_by, VERSION: flavour.version if flavour else None}
    return {**fields_of_rules(load_rules(suite)), **{name: path for name, path in parting.items() if path}}


def _observed_collection(facts: CollectionFacts, points: int) -> dict[str, Any]:
    """What was found in the collection, with the collection behind an alias."""
    texts = {"collection": facts.name, "status": facts.status, **({"alias": facts.alias} if facts.alias else {})}
    return {**texts, "points": points, "segments": facts.segments}


def _check_vector(suite: Suite, facts: CollectionFacts, groups: Collection[str] | None) -> None:
    """Check ``qdrant.vector_name`` against the collection, unless it has no dense vectors."""
    if not _needs_vectors(groups):
        return
    with naming_file_of(suite):
        check_vector_name(suite.qdrant.vector_name, facts)


def reads_vectors(tags: Mapping[str, str]) -> bool:
    """Whether the groups of a run, by its tags, need vectors."""
    return _needs_vectors(selected_groups(tags))


def _needs_vectors(groups: Collection[str] | None) -> bool:
    return groups is None or not EMBEDDING.isdisjoint(groups)


def _points_metadata(manifest: SnapshotManifest) -> dict[str, Any]:
    return {ROW_COUNT: manifest.points, "seconds": round(manifest.seconds, 3), "vectors": _vectors(manifest.facts)}


def _vectors(facts: CollectionFacts) -> str:
    shown = [f"{vector.name or '(unnamed)'}: {vector.size}, {vector.distance}" for vector in facts.vectors]
    return "; ".join(shown) or "none"
