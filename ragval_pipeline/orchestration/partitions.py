"""Partitions of a suite in Dagster: their definition, their keys, and what belongs to which of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import dagster as dg

from ragval_pipeline.orchestration.names import SUITE_TAG
from ragval_pipeline.suite.load import for_partition
from ragval_pipeline.suite.model import Suite

#: Dagster's own tag of a run of one partition.
PARTITION_TAG = "dagster/partition"


def partitions_of(suite: Suite) -> dg.PartitionsDefinition[str] | None:
    """The partitions of the assets and checks of a suite; None without any."""
    settings = suite.partitions
    if settings is None:
        return None
    if settings.dynamic is not None:
        return dg.DynamicPartitionsDefinition(name=settings.dynamic)
    return dg.StaticPartitionsDefinition(list(settings.static or ()))


def keys_of(suite: Suite, instance: dg.DagsterInstance) -> Sequence[str | None]:
    """The partitions that there are now; for a suite without partitions only None, which is the whole."""
    settings = suite.partitions
    if settings is None:
        return [None]
    return instance.get_dynamic_partitions(settings.dynamic) if settings.dynamic else list(settings.static or ())


def part_of(suite: Suite, key: str | None) -> Suite:
    """The suite of a partition; the suite itself for None.

    Raises:
        SuiteError: The suite has no such partition.
    """
    return suite if key is None else for_partition(suite, key)


def run_tags(suite: str, key: str | None) -> Mapping[str, str]:
    """The tags of the validations of a suite, or of one of its partitions."""
    return {SUITE_TAG: suite, **({} if key is None else {PARTITION_TAG: key})}


def partitioned_check(spec: dg.AssetCheckSpec, partitions: dg.PartitionsDefinition[str] | None) -> dg.AssetCheckSpec:
    """The check with a result a partition, like its asset."""
    if partitions is None:
        return spec
    with warnings.catch_warnings():
        # Dagster 1.13 calls partitions of checks a preview.
        warnings.simplefilter("ignore")
        return dg.AssetCheckSpec(
            spec.name,
            asset=spec.asset_key,
            description=spec.description,
            blocking=spec.blocking,
            partitions_def=partitions,
        )
