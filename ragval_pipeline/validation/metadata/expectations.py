"""The same four levels as a Great Expectations suite, run through GX 1.x, its results kept as evidence.

What lives here: the expectation suite and its run on derived scalar columns. What does not: the verdict, which is
counted once in ``levels``. Kinds are judged before GX sees them: a pandas column would turn an integer with one null
into a float, and GX calls an empty list long enough.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.snapshot.schema import kind_column
from ragval_pipeline.sources.snapshot.values import EMPTY_KINDS
from ragval_pipeline.validation.metadata.rules import (
    RULES,
    allowed_kinds,
    canonical_of,
    has_value_rule,
    is_valid,
    judged_kind,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Offending point ids that the kept results show for one expectation.
SHOWN_IDS = 20


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
    frame = derive_frame(table, fields=fields, required=required, now=now, urls_required=urls_required)
    suite = gx.ExpectationSuite(
        name="payload", expectations=build_expectations(fields, required, urls_required=urls_required)
    )
    context = gx.get_context(mode="ephemeral", project_config=_quiet_project())
    batch = (
        context.data_sources.add_pandas("snapshot")
        .add_dataframe_asset("points")
        .add_batch_definition_whole_dataframe("all")
        .get_batch({"dataframe": frame})
    )
    outcome = batch.validate(suite, result_format={"result_format": "SUMMARY", "partial_unexpected_count": SHOWN_IDS})
    results = sorted((_plain(result) for result in outcome.results), key=lambda result: result["order"])
    return {
        "engine": "great_expectations",
        "version": gx.__version__,
        "success": bool(outcome.success),
        "evaluated": len(results),
        "unsuccessful": sum(not result["success"] for result in results),
        "results": [{key: value for key, value in result.items() if key != "order"} for result in results],
    }


def build_expectations(fields: Mapping[str, str], required: Sequence[str], *, urls_required: bool) -> list[Any]:
    """The expectations, in the order present, non-empty, type, rule for each field.

    Presence and emptiness are ``critical`` and asked of required fields; type and rule are ``warning`` and asked of
    every mapped field that has them.
    """
    import great_expectations.expectations as gxe

    canonical = canonical_of(fields)
    expectations: list[Any] = []

    def add(level: str, name: str, kind: type, **arguments: Any) -> None:
        meta = {"level": level, "field": name, "order": len(expectations)}
        severity = "critical" if level in {"present", "non_empty"} else "warning"
        expectations.append(kind(meta=meta, severity=severity, **arguments))

    for name in dict.fromkeys([*required, *fields.values()]):
        key = canonical.get(name)
        if name in required:
            add("present", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.present", value_set=[True])
            add("non_empty", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.non_empty", value_set=[True])
        if key is None:
            continue
        kinds = sorted(allowed_kinds(key, urls_required=urls_required))
        add("type", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.kind", value_set=kinds)
        if (minimum := RULES[key].minimum) is not None:
            add("rule", name, gxe.ExpectColumnValuesToBeBetween, column=f"{name}.number", min_value=minimum)
        elif has_value_rule(key, urls_required=urls_required):
            add("rule", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.valid", value_set=[True])
    return expectations


def derive_frame(
    table: pa.Table, *, fields: Mapping[str, str], required: Sequence[str], now: datetime, urls_required: bool
) -> pd.DataFrame:
    """Scalar columns for GX, with the point id as index.

    ``x.present`` is a bool; ``x.non_empty`` one that is null where x is absent; ``x.kind`` is null where x is absent
    or empty; ``x.number`` holds whole numbers, and the lowest for those beyond 64 bits; ``x.valid`` is a bool. The last
    two are null where the value is not of the right type.
    """
    import pandas as pd

    canonical = canonical_of(fields)
    columns: dict[str, Any] = {}
    for name in dict.fromkeys([*required, *fields.values()]):
        kinds = table.column(kind_column(name)).to_pylist()
        if name in required:
            columns[f"{name}.present"] = [kind != "absent" for kind in kinds]
            columns[f"{name}.non_empty"] = [None if kind == "absent" else kind not in EMPTY_KINDS for kind in kinds]
        key = canonical.get(name)
        if key is not None:
            columns |= _judged_columns(table, name, key, kinds, now, urls_required)
    # An index with a name would make each offending id a mapping.
    frame = pd.DataFrame(columns, index=pd.Index(table.column("point_id").to_pylist()))
    # Booleans with nulls stay objects; text columns are cheap to compare as categories.
    return frame.astype({name: "object" for name in frame.columns if name.endswith((".kind", ".valid", ".non_empty"))})


def _judged_columns(
    table: pa.Table, name: str, canonical: str, stored: Sequence[str], now: datetime, urls_required: bool
) -> dict[str, Any]:
    import pandas as pd

    values = table.column(canonical).to_pylist() if canonical != "text" else [None] * len(stored)
    kinds = [judged_kind(canonical, kind, value) for kind, value in zip(stored, values, strict=True)]
    allowed = allowed_kinds(canonical, urls_required=urls_required)
    columns: dict[str, Any] = {f"{name}.kind": kinds}
    if RULES[canonical].minimum is not None:
        numbers = [_number(value) if kind in allowed else None for kind, value in zip(kinds, values, strict=True)]
        columns[f"{name}.number"] = pd.array(numbers, dtype="Int64")
    elif has_value_rule(canonical, urls_required=urls_required):
        columns[f"{name}.valid"] = [
            is_valid(canonical, kind, value, now) if kind in allowed else None
            for kind, value in zip(kinds, values, strict=True)
        ]
    return columns


def _number(value: int | None) -> int:
    return -(2**63) if value is None else value


def _plain(result: Any) -> dict[str, Any]:
    config = result.expectation_config
    body = result.to_json_dict().get("result", {})
    exception = _exception(result.exception_info)
    return {
        "order": config.meta["order"],
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
