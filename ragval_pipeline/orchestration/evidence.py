"""Which values count for a verdict: this run's, or those of the run that it re-executes if nothing has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.orchestration.values import Value
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.suite.model import Suite

SUITE, SITE, PAGES, COLLECTION = "suite", "site", "pages", "collection"
#: Sections of a suite that neither a measurement nor a verdict depends on.
_SAYS_NOTHING = frozenset({"automation", "report_uri", "retry"})
_SHOWN = {SUITE: "suite", SITE: "sitemap", PAGES: "copies of the pages", COLLECTION: "collection"}


def lineage(instance: dg.DagsterInstance, run: dg.DagsterRun) -> list[str]:
    """The run and those that it re-executes, back to the first."""
    runs, at = [run.run_id], run
    while at.parent_run_id is not None and at.parent_run_id not in runs:
        runs.append(at.parent_run_id)
        parent = instance.get_run_by_id(at.parent_run_id)
        if parent is None:
            break
        at = parent
    return runs


def refusals(values: Mapping[str, Value], *, runs: Collection[str], now: Mapping[str, str], job: str) -> dict[str, str]:
    """Why values do not count, by the name of their asset; those that count are left out.

    ``now`` holds the current fingerprints, as far as known; ``job`` measures everything again, for the remedy.
    """
    measured_on: dict[str, str] = {}
    for name in ("page_snapshot", "payload_snapshot", "chunk_facts"):
        measured_on |= values[name].stamp.states if name in values else {}
    expected = {**measured_on, **now}
    found = {name: _reason(value, runs, expected, now) for name, value in values.items()}
    remedy = "Materialise it again together with its upstream assets"
    return {name: f"{name} {reason}. {remedy}, or start {job}." for name, reason in found.items() if reason}


def _reason(value: Value, runs: Collection[str], expected: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    strangers = sorted(set(value.stamp.runs) - set(runs))
    if strangers:
        of = "is" if value.stamp.run_id in strangers else "rests on what is"
        return f"{of} of another run ({', '.join(run[:8] for run in strangers)}; made {value.stamp.made})"
    for thing, state in value.stamp.states.items():
        if thing in now and now[thing] != state:
            return f"was made at {value.stamp.made}, but the {_SHOWN[thing]} has changed since then"
        if expected.get(thing, state) != state:
            return f"was measured on a different state of the {_SHOWN[thing]} from the one that this run has read"
    return None


def suite_state(suite: Suite) -> str:
    """Fingerprint of a resolved suite and its queries, as far as they affect measuring and judging."""
    from ragval_pipeline.orchestration.report import settings_without_secrets
    from ragval_pipeline.suite.queries.load import load_queries

    settings = {name: part for name, part in settings_without_secrets(suite).items() if name not in _SAYS_NOTHING}
    return _digest([settings, [{**query.as_given(), "id": query.id} for query in load_queries(suite)]])


def site_state(inventory: SiteInventory) -> str:
    """Fingerprint of the sitemap's pages."""
    return _digest([[page.url, page.lastmod, page.out_of_scope] for page in inventory.pages])


def collection_state(connection: Any, suite: Suite) -> str:
    """Current fingerprint of a resolved suite's collection.

    Raises:
        SystemFailure: Qdrant does not answer, or the collection does not exist.
    """
    from ragval_pipeline.sources.stores.qdrant.change import fingerprint_of

    with open_reader(connection, suite) as reader:
        return fingerprint_of(reader, suite.payload.fields.get("embedded_at"))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
