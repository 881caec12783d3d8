"""What the assets that search the collection have in common: the client, the counted embedder, the guard.

What lives here: their one shape. What does not: what each of them measures (the assets themselves).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset
from ragval_pipeline.orchestration.costs import counted_embedding
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import PAGE_COPIES, PAYLOAD_SNAPSHOT, SITEMAP_URLS, asset_key, resource_key
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

#: What the assets hold that a searching one can read.
_KINDS: Mapping[str, type] = {
    SITEMAP_URLS: SiteInventory,
    PAGE_COPIES: PageCopiesManifest,
    PAYLOAD_SNAPSHOT: SnapshotManifest,
}


def searching_asset(
    suite: Suite,
    name: str,
    *,
    work: Callable[..., Measurement],
    description: str | None,
    reads: Sequence[str] = (PAYLOAD_SNAPSHOT,),
) -> dg.AssetsDefinition:
    """An asset that measures by asking the collection.

    Args:
        suite: The suite, possibly with placeholders.
        name: Name of the asset.
        work: Called with the resolved suite, the values of the assets that it ``reads``, the Qdrant resource and the
            embedder resource; measures.
        description: What the asset is, for the UI.
        reads: Names of the assets that it needs.
    """

    @suite_asset(
        suite,
        name,
        kinds={"qdrant", *(["cohere"] if suite.embedding.provider == "cohere" else [])},
        resources=("qdrant", "embedder"),
        ins={each: dg.AssetIn(asset_key(suite.suite, each), dagster_type=_KINDS[each]) for each in reads},
        description=description,
    )
    def searched(context: dg.AssetExecutionContext, **values: Any) -> dg.MaterializeResult[Measurement]:
        connection = getattr(context.resources, resource_key(suite.suite, "qdrant"))
        embedding = counted_embedding(context, suite)
        return measure(
            context,
            asset=name,
            severities=suite.severity,
            work=lambda: work(resolve_suite(suite), *(values[each] for each in reads), connection, embedding),
            embedding=embedding,
        )

    return searched
