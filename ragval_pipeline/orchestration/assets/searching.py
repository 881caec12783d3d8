"""What the assets that search the collection have in common: the client, the counted embedder, the guard.

What lives here: their one shape. What does not: what each of them measures (the assets themselves).
"""

from collections.abc import Callable
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset
from ragval_pipeline.orchestration.costs import counted_embedding
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import PAYLOAD_SNAPSHOT, SITEMAP_URLS, asset_key, resource_key
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def searching_asset(
    suite: Suite,
    name: str,
    *,
    work: Callable[..., Measurement],
    description: str | None,
    needs_site: bool = False,
) -> dg.AssetsDefinition:
    """An asset that measures by asking the collection.

    Args:
        suite: The suite, possibly with placeholders.
        name: Name of the asset.
        work: Called with the resolved suite, the inventory of the site when it ``needs_site``, the manifest of the
            snapshot, the Qdrant resource and the embedder resource; measures.
        description: What the asset is, for the UI.
        needs_site: Whether it needs to know the site's pages.
    """
    inputs: dict[str, tuple[str, type]] = {"manifest": (PAYLOAD_SNAPSHOT, SnapshotManifest)}
    if needs_site:
        inputs = {"inventory": (SITEMAP_URLS, SiteInventory), **inputs}

    @suite_asset(
        suite,
        name,
        kinds={"qdrant", *(["cohere"] if suite.embedding.provider == "cohere" else [])},
        resources=("qdrant", "embedder"),
        ins={
            parameter: dg.AssetIn(asset_key(suite.suite, asset), dagster_type=kind)
            for parameter, (asset, kind) in inputs.items()
        },
        description=description,
    )
    def searched(context: dg.AssetExecutionContext, **read: Any) -> dg.MaterializeResult[Measurement]:
        connection = getattr(context.resources, resource_key(suite.suite, "qdrant"))
        embedding = counted_embedding(context, suite)
        return measure(
            context,
            asset=name,
            severities=suite.severity,
            work=lambda: work(resolve_suite(suite), *(read[each] for each in inputs), connection, embedding),
            embedding=embedding,
        )

    return searched
