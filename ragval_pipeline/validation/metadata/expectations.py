"""The same four levels as a Great Expectations suite, run through GX 1.x, its results kept as evidence.

What lives here: the run, slice by slice. What does not: the expectations (``gx_suite``), the columns (``gx_frame``) and
the verdict, which is counted once in ``levels``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from ragval_pipeline.validation.metadata.gx_frame import derive_frame
from ragval_pipeline.validation.metadata.gx_suite import build_expectations

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Offending point ids that the kept results show for one expectation.
SHOWN_IDS = 20
#: Points that GX judges at a time: its frame of Python objects is by far the largest thing in memory.
ROWS_PER_SLICE = 50_000

Results = list[dict[str, Any]]


def run_expectations(
    table: pa.Table,
    *,
    fields: Mapping[str, str],
    required: Sequence[str],
    now: datetime,
    urls_required: bool,
) -> dict[str, Any]:
    """Run the payload expectations.

    Args:
        table: Snapshot table with ``levels.needed_columns``, a row a point.
        fields: Canonical name to payload name.
        required: Payload names that every point must hold.
        now: Time of the run.
        urls_required: Whether ``source_url`` must be an http(s) URL.

    Returns:
        ``{engine, version, success, evaluated, unsuccessful, results}``; each result has ``level``, ``field``,
        ``expectation``, ``success``, ``severity``, ``unexpected_count``, ``element_count``, ``point_ids`` (the first
        ``SHOWN_IDS``) and ``exception``. Results are in suite order.
    """
    import great_expectations as gx

    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    suite = gx.ExpectationSuite(
        name="payload", expectations=build_expectations(fields, required, urls_required=urls_required)
    )
    definition = (
        gx.get_context(mode="ephemeral", project_config=_quiet_project())
        .data_sources.add_pandas("snapshot")
        .add_dataframe_asset("points")
        .add_batch_definition_whole_dataframe("all")
    )

    def judge(rows: pa.Table) -> Results:
        frame = derive_frame(rows, fields=fields, required=required, now=now, urls_required=urls_required)
        return _judge(definition, suite, frame)

    slices = (table.slice(start, ROWS_PER_SLICE) for start in range(0, max(table.num_rows, 1), ROWS_PER_SLICE))
    results = reduce(merge_results, map(judge, slices))
    return {
        "engine": "great_expectations",
        "version": gx.__version__,
        "success": all(result["success"] for result in results),
        "evaluated": len(results),
        "unsuccessful": sum(not result["success"] for result in results),
        "results": results,
    }


def merge_results(first: Results, second: Results) -> Results:
    """The results of two slices of the same collection as those of both: an expectation holds when it holds in each."""
    return [_both(one, two) for one, two in zip(first, second, strict=True)]


def _both(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    return {
        **one,
        "success": one["success"] and two["success"],
        "element_count": _sum(one["element_count"], two["element_count"]),
        "unexpected_count": _sum(one["unexpected_count"], two["unexpected_count"]),
        "point_ids": [*one["point_ids"], *two["point_ids"]][:SHOWN_IDS],
        "exception": one["exception"] or two["exception"],
    }


def _sum(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else one + two


def _judge(definition: Any, suite: Any, frame: pd.DataFrame) -> Results:
    batch = definition.get_batch({"dataframe": frame})
    outcome = batch.validate(suite, result_format={"result_format": "SUMMARY", "partial_unexpected_count": SHOWN_IDS})
    # GX gives results back in an order of its own.
    ordered = sorted(outcome.results, key=lambda result: result.expectation_config.meta["order"])
    return [_plain(result) for result in ordered]


def _plain(result: Any) -> dict[str, Any]:
    config = result.expectation_config
    body = result.to_json_dict().get("result", {})
    exception = _exception(result.exception_info)
    return {
        "level": config.meta["level"],
        "field": config.meta["field"],
        "expectation": config.type,
        "success": bool(result.success),
        "severity": str(getattr(config.severity, "value", config.severity)),
        "element_count": body.get("element_count"),
        "unexpected_count": body.get("unexpected_count"),
        "point_ids": [str(entry) for entry in body.get("partial_unexpected_index_list") or []],
        "exception": exception,
    }


def _exception(info: Any) -> str | None:
    if not isinstance(info, Mapping):
        return None
    if info.get("raised_exception"):
        return str(info.get("exception_message"))
    nested = [entry for entry in info.values() if isinstance(entry, Mapping) and entry.get("raised_exception")]
    return str(nested[0].get("exception_message")) if nested else None


def _quiet_project() -> Any:
    """A project in memory: nothing on disk, no progress bars, and no telemetry in those versions that have one."""
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=ProgressBarsConfig(globally=False, metric_calculations=False),
        analytics_enabled=False,
    )
