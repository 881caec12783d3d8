"""What runs in a process of its own: Great Expectations 1.x judges one table."""

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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


#: What Great Expectations imports for expectations that are not asked here: a third of what loading it costs.
_UNUSED = frozenset({"altair", "scipy.stats"})
#: What it goes without when it is not installed, and imports as a whole when it is: databases, clouds and clusters.
_OPTIONAL = frozenset({"boto3", "botocore", "pyspark", "sqlalchemy"})


class _Unloaded(importlib.abc.MetaPathFinder):
    """Puts off the work of importing a module until something of it is used, and leaves out what is optional."""

    def __init__(self) -> None:
        self._names = set(_UNUSED)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of one of these modules, with a loader that waits."""
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
    """Load, wait for a table, judge it; without one end quietly."""
    gc.disable()  # it ends before there is much to collect, and loading makes hundreds of thousands of objects
    atexit.register(gc.freeze)  # which Python would look through at the end all the same
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no part of the answer
    sys.meta_path.insert(0, _Unloaded())
    importlib.import_module("great_expectations.expectations")
    import pyarrow as pa

    with open(0, "rb", closefd=False) as asked, answer:
        if asked.peek(1):
            table = pa.ipc.open_stream(asked).read_all()
            answer.write(json.dumps(judge(table, **json.loads(table.schema.metadata[b"asked"]))).encode())


def judge(table: pa.Table, *, expectations: Sequence[Mapping[str, Any]], shown: int) -> dict[str, Any]:
    """Run expectations.

    Args:
        table: A row a point, with ``point_id``.
        expectations: As ``expectations.build_expectations`` makes them.
        shown: Offending point ids to tell of each.

    Returns:
        ``{version, results}``; a result an expectation, in their order.
    """
    import great_expectations as gx
    import great_expectations.expectations as gxe
    import pandas as pd

    # Whole numbers beside a None would become floats; an index with a name would make each offending id a mapping.
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
    # GX gives results back in an order of its own.
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
