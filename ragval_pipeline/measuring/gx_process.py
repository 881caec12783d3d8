"""The separate process in which Great Expectations 1.x judges one table."""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from ragval_pipeline.lazy import pa

#: Imports of Great Expectations for unused expectations: a third of its loading time.
_UNUSED = frozenset({"altair", "scipy.stats"})
#: Its optional imports, loaded completely if installed: databases, clouds and clusters.
_OPTIONAL = frozenset({"boto3", "botocore", "pyspark", "sqlalchemy"})


class _Unloaded(importlib.abc.MetaPathFinder):
    """Defers importing modules until first use, and skips optional ones."""

    def __init__(self) -> None:
        self._names = set(_UNUSED)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of one of these modules, with a lazy loader."""
        if name in _OPTIONAL:
            raise ModuleNotFoundError(f"{name} is not used here", name=name)
        if name not in self._names:
            return None
        self._names.remove(name)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def main() -> None:
    """Load, wait for a table and judge it; end quietly without one."""
    gc.disable()  # the process is short, and loading creates hundreds of thousands of objects
    atexit.register(gc.freeze)  # skip the final collection
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep output of libraries out of the result
    sys.meta_path.insert(0, _Unloaded())
    importlib.import_module("great_expectations.expectations")
    with open(0, "rb", closefd=False) as asked, answer:
        if asked.peek(1):
            table = pa.ipc.open_stream(asked).read_all()
            answer.write(json.dumps(judge(table, **json.loads(table.schema.metadata[b"asked"]))).encode())


def judge(table: pa.Table, *, expectations: Sequence[Mapping[str, Any]], shown: int) -> dict[str, Any]:
    """Run expectations.

    Args:
        table: One row per point, with ``point_id``.
        expectations: From ``expectations.build_expectations``.
        shown: Maximum offending point ids of each.

    Returns:
        ``{version, results}``; one result per expectation, in order.
    """
    import great_expectations as gx
    import great_expectations.expectations as gxe
    import pandas as pd

    # Integers next to None would become floats; a named index would turn each offending id into a mapping.
    frame = table.drop_columns(["point_id"]).to_pandas(integer_object_nulls=True)
    frame.index = pd.Index(table.column("point_id").to_pylist())
    suite = gx.ExpectationSuite(
        name="payload",
        expectations=[
            getattr(gxe, each["type"])(
                column=each["column"], severity=each["severity"], meta={"order": order}, **each["arguments"]
            )
            for order, each in enumerate(expectations)
        ],
    )
    batch = (
        gx.get_context(mode="ephemeral", project_config=_quiet_project())
        .data_sources.add_pandas("snapshot")
        .add_dataframe_asset("points")
        .add_batch_definition_whole_dataframe("all")
        .get_batch({"dataframe": frame})
    )
    outcome = batch.validate(suite, result_format={"result_format": "SUMMARY", "partial_unexpected_count": shown})
    # GX returns results in another order.
    ordered = sorted(outcome.results, key=lambda result: result.expectation_config.meta["order"])
    return {"version": gx.__version__, "results": [_plain(result) for result in ordered]}


def _plain(result: Any) -> dict[str, Any]:
    body = result.to_json_dict().get("result", {})
    return {
        "expectation": result.expectation_config.type,
        "success": bool(result.success),
        "element_count": body.get("element_count"),
        "unexpected_count": body.get("unexpected_count"),
        "point_ids": [str(entry) for entry in body.get("partial_unexpected_index_list") or []],
        "exception": _exception(result.exception_info),
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


if __name__ == "__main__":
    main()
