"""What all assets of a suite share: keys, group, kinds, owners and versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.names import asset_key, pool_name, resource_key
from ragval_pipeline.suite.model import Suite

#: Raised whenever what an asset measures changes, so that the UI marks older values.
CODE_VERSION = "2"


def suite_asset(
    suite: Suite,
    name: str,
    *,
    prefix: Sequence[str] = (),
    kinds: Iterable[str],
    description: str,
    ins: Mapping[str, dg.AssetIn] | None = None,
    resources: tuple[str, ...] = (),
    metadata: Mapping[str, Any] | None = None,
    deps: Iterable[dg.AssetKey] = (),
    check_specs: Iterable[dg.AssetCheckSpec] = (),
    freshness_policy: dg.FreshnessPolicy | None = None,
    late: bool = False,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """The decorator ``@dg.asset`` for the asset ``name`` of a suite.

    Args:
        suite: The suite, possibly with placeholders.
        name: Name of the asset.
        prefix: Of its key.
        kinds: What it is made with, for the UI.
        description: What it is, for the UI, in Markdown.
        ins: Upstream assets by parameter.
        resources: Names of the suite's resources that it opens.
        metadata: Definition metadata.
        deps: Assets that it comes after without reading their value.
        check_specs: Checks that it makes itself.
        freshness_policy: When it is stale.
        late: Whether its step waits for others that are ready too.
    """
    return dg.asset(
        key=asset_key(suite.suite, name, prefix),
        ins=ins,
        deps=list(deps),
        group_name=suite.suite,
        kinds={"python", *kinds},
        code_version=CODE_VERSION,
        check_specs=list(check_specs),
        tags={"ragval/suite": suite.suite},
        op_tags={"dagster/priority": "-1"} if late else None,
        description=description,
        metadata=metadata,
        io_manager_key=resource_key(suite.suite, "io_manager"),
        required_resource_keys={resource_key(suite.suite, entry) for entry in resources},
        freshness_policy=freshness_policy,
        # One validation of a collection at a time, where the deployment limits its pools.
        pool=pool_name(suite) if "qdrant" in resources else None,
    )
