"""Public names of definitions: keys, jobs, steps, pools, resources, checks, tags."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.model import Suite

#: The report's check of the run's verdict; the others are named like their criterion.
VERDICT_CHECK = "verdict"

SUITE_TAG = "ragval/suite"
#: The verdict of a run: pass, fail or not_measured; absent if an outside system failed, or the run died.
VERDICT_TAG = "ragval/verdict"
TRIGGER_TAG = "ragval/trigger"
#: Names of all ingestions that a validation covers, comma separated: run ids, or substitutes.
INGESTIONS_TAG = "ragval/ingestions"
UPSTREAM_ASSET_TAG = "ragval/upstream_asset"
UPSTREAM_RUN_TAG = "ragval/upstream_run"


def asset_key(suite: str, name: str, prefix: Sequence[str] = ()) -> dg.AssetKey:
    """``[suite, name]``, after the project's prefix."""
    return dg.AssetKey([*prefix, suite, name])


def prefix_parts(key_prefix: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a key prefix, written as ``a/b`` or as a list.

    Raises:
        SuiteError: A part has characters other than letters, digits and ``_``, which step names do not allow.
    """
    parts = tuple(key_prefix.split("/") if isinstance(key_prefix, str) else key_prefix)
    for part in parts:
        if not re.fullmatch(r"\w+", part, re.ASCII):
            raise SuiteError(
                f"{part!r} is not a valid part of an asset key",
                key="key_prefix",
                remedy="Use letters, digits and _; separate several parts as a/b or [a, b].",
            )
    return parts


def job_name(suite: str) -> str:
    """The job that validates the suite."""
    return f"{suite}_validation"


def step_name(suite: str, prefix: Sequence[str] = ()) -> str:
    """The step that makes all assets of a suite."""
    return "__".join([*prefix, suite, "validation"])


def pool_name(suite: Suite) -> str:
    """The concurrency pool of a collection, with which a deployment limits validations to one at a time.

    All collections of an embedded Qdrant are in one pool: only one process at a time may open its folder.
    """
    if suite.points is not None:
        return f"ragval:{suite.qdrant.collection}-{hashlib.sha256(suite.points.encode()).hexdigest()[:8]}"
    if suite.qdrant.path is None:
        return "ragval:" + "_".join(suite.qdrant.collection.split())
    folder = os.path.normpath(suite.folder / suite.qdrant.path)
    return f"ragval:{suite.qdrant.path.name or 'qdrant'}-{hashlib.sha256(folder.encode()).hexdigest()[:8]}"


def resource_key(suite: str, name: str) -> str:
    """Resource keys include the suite, since several suites share a code location."""
    return f"{suite}__{name}"


def check_name(criterion: str) -> str:
    """The name of a criterion's check: Dagster allows letters, digits and underscores only.

    ``coverage@acme`` is ``coverage_at_acme``; a partition with other characters is told apart by a hash.
    """
    measure, of, partition = criterion.partition("@")
    if not of:
        return criterion
    plain = re.sub(r"\W+", "_", partition, flags=re.ASCII)
    digest = "" if plain == partition else f"_{hashlib.sha256(partition.encode()).hexdigest()[:6]}"
    return f"{measure}_at_{plain}{digest}"
