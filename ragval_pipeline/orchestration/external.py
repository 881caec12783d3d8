"""What a validation reads and does not make: sitemap and collection, as external assets in the lineage."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from ragval_pipeline.orchestration.metadata import numbers
from ragval_pipeline.orchestration.names import COLLECTION, SITEMAP, asset_key
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.urls import without_userinfo
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite


def external_assets(suite: Suite, *, ingestion: dg.AssetKey | None, prefix: Sequence[str]) -> list[dg.AssetSpec]:
    """The collection of a suite and, when it names a source, the sitemap."""
    qdrant, place = suite.qdrant, suite.qdrant.url or str(suite.qdrant.path or "")
    collection = _external(
        suite,
        asset_key(suite.suite, COLLECTION, prefix),
        kind="qdrant",
        location=f"{place.rstrip('/')}/collections/{qdrant.collection}" if qdrant.url else place,
        description="The Qdrant collection that is validated. It is read only.",
    ).replace_attributes(deps=[ingestion] if ingestion else [])
    collection = collection.merge_attributes(metadata={"collection": qdrant.collection})
    if suite.source is None:
        return [collection]
    key, location = asset_key(suite.suite, SITEMAP, prefix), suite.source.location
    return [_external(suite, key, kind="xml", location=location, description="The sitemap of the site."), collection]


def _external(suite: Suite, key: dg.AssetKey, *, kind: str, location: str, description: str) -> dg.AssetSpec:
    # An address may carry a password or a token; placeholders stay as they are written.
    shown = without_userinfo(location).partition("?")[0]
    return dg.AssetSpec(
        key=key,
        group_name=suite.suite,
        kinds={kind},
        tags={"ragval/suite": suite.suite},
        description=description,
        metadata={"dagster/uri": shown} if shown else {},
    )


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
