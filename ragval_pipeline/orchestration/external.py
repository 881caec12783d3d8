"""What a validation reads and does not make: sitemap and collection, as external assets in the lineage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.metadata import numbers
from ragval_pipeline.orchestration.names import COLLECTION, SITEMAP, asset_key
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.urls import without_userinfo
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite


def external_assets(
    suite: Suite, *, ingestion: dg.AssetKey | None = None, prefix: Sequence[str] = ()
) -> list[dg.AssetSpec]:
    """The collection of a suite and, when it names a source, the sitemap."""
    return [*([_sitemap(suite, prefix)] if suite.source else []), _collection(suite, ingestion, prefix)]


def observed_sitemap(key: dg.AssetKey, inventory: SiteInventory) -> dg.AssetObservation:
    """What a run saw of the sitemap, so that its page shows it over runs."""
    metadata = numbers({"pages": len(inventory.pages), "pages_in_scope": len(inventory.in_scope)})
    return dg.AssetObservation(key, metadata=metadata)


def observed_collection(key: dg.AssetKey, manifest: SnapshotManifest) -> dg.AssetObservation:
    """What a run saw of the collection; an alias shows which collection stood behind it."""
    facts = manifest.facts
    texts = {"collection": facts.name, "status": facts.status, **({"alias": facts.alias} if facts.alias else {})}
    return dg.AssetObservation(
        key,
        metadata={
            **{name: dg.MetadataValue.text(text) for name, text in texts.items()},
            **numbers({"points": manifest.points, "segments": facts.segments}),
        },
    )


def _sitemap(suite: Suite, prefix: Sequence[str]) -> dg.AssetSpec:
    location = suite.source.location if suite.source else ""
    return _external(
        suite,
        asset_key(suite.suite, SITEMAP, prefix),
        kinds={"xml"},
        location=location,
        description="The sitemap of the site.",
    )


def _collection(suite: Suite, ingestion: dg.AssetKey | None, prefix: Sequence[str]) -> dg.AssetSpec:
    place = suite.qdrant.url or str(suite.qdrant.path or "")
    return _external(
        suite,
        asset_key(suite.suite, COLLECTION, prefix),
        kinds={"qdrant"},
        location=f"{place.rstrip('/')}/collections/{suite.qdrant.collection}" if suite.qdrant.url else place,
        description="The Qdrant collection that is validated. It is read only.",
        deps=[ingestion] if ingestion else [],
        metadata={"collection": suite.qdrant.collection},
    )


def _external(
    suite: Suite,
    key: dg.AssetKey,
    *,
    kinds: set[str],
    location: str,
    description: str,
    deps: list[dg.AssetKey] | None = None,
    metadata: dict[str, Any] | None = None,
) -> dg.AssetSpec:
    # An address may carry a password or a token; placeholders stay as they are written.
    shown = without_userinfo(location).partition("?")[0]
    return dg.AssetSpec(
        key=key,
        deps=deps or [],
        group_name=suite.suite,
        kinds=kinds,
        tags={"ragval/suite": suite.suite},
        description=description,
        metadata={**({"dagster/uri": shown} if shown else {}), **(metadata or {})},
    )
