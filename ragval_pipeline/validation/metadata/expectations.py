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

from ragval_pipeline.sources.snapshot.schema import INTEGER_FIELDS, kind_column
from ragval_pipeline.sources.snapshot.values import EMPTY_KINDS
from ragval_pipeline.validation.metadata.rules import RULES

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
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = _no_progress_bars()
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

    canonical = {name: key for key, name in fields.items()}
    expectations: list[Any] = []

    def add(level: str, name: str, kind: type, **arguments: Any) -> None:
        meta = {"level": level, "field": name, "order": len(expectations)}
        severity = "critical" if level in {"present", "non_empty"} else "warning"
        expectations.append(kind(meta=meta, severity=severity, **arguments))

    for name in dict.fromkeys([*required, *fields.values()]):
        rule = RULES.get(canonical.get(name, ""))
        if name in required:
            add("present", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.present", value_set=[True])
            add("non_empty", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.non_empty", value_set=[True])
        if rule is None:
            continue
        add("type", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.kind", value_set=_allowed(canonical[name]))
        if rule.minimum is not None:
            add("rule", name, gxe.ExpectColumnValuesToBeBetween, column=name, min_value=rule.minimum)
        elif rule.invalid_kinds or (rule.valid and (urls_required or canonical[name] != "source_url")):
            add("rule", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.valid", value_set=[True])
    return expectations


def derive_frame(
    table: pa.Table, *, fields: Mapping[str, str], required: Sequence[str], now: datetime, urls_required: bool
) -> pd.DataFrame:
    """Scalar columns for GX, with the point id as index.

    ``x.present`` is a bool; ``x.non_empty`` one that is null where x is absent; ``x.kind`` is null where x is absent
    or empty; ``x`` holds whole numbers; ``x.valid`` is a bool that is null where the value has the wrong type.
    """
    import pandas as pd

    canonical = {name: key for key, name in fields.items()}
    columns: dict[str, Any] = {}
    for name in dict.fromkeys([*required, *fields.values()]):
        kinds = table.column(kind_column(name)).to_pylist()
        if name in required:
            columns[f"{name}.present"] = [kind != "absent" for kind in kinds]
            columns[f"{name}.non_empty"] = [None if kind == "absent" else kind not in EMPTY_KINDS for kind in kinds]
        columns[f"{name}.kind"] = [None if kind in EMPTY_KINDS or kind == "absent" else kind for kind in kinds]
        key = canonical.get(name)
        rule = RULES.get(key or "")
        if key is None or rule is None:
            continue
        if rule.minimum is not None:
            columns[name] = pd.array(table.column(key).to_pylist(), dtype="Int64")
        elif rule.invalid_kinds or (rule.valid and (urls_required or key != "source_url")):
            values = table.column(key).to_pylist()
            columns[f"{name}.valid"] = [
                _is_valid(key, kind, value, now) for kind, value in zip(kinds, values, strict=True)
            ]
    frame = pd.DataFrame(columns, index=pd.Index(table.column("point_id").to_pylist(), name="point_id"))
    # Booleans with nulls stay objects; text columns are cheap to compare as categories.
    return frame.astype({name: "object" for name in frame.columns if name.endswith((".kind", ".valid", ".non_empty"))})


def _is_valid(canonical: str, kind: str, value: Any, now: datetime) -> bool | None:
    rule = RULES[canonical]
    if kind not in rule.kinds:
        return None
    return kind not in rule.invalid_kinds and (rule.valid is None or rule.valid(value, now))


def _allowed(canonical: str) -> list[str]:
    # A float column value that is a whole number counts as one; levels.py judges the value itself.
    return sorted({*RULES[canonical].kinds, *({"float"} if canonical in INTEGER_FIELDS else set())})


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


def _no_progress_bars() -> Any:
    from great_expectations.data_context.types.base import ProgressBarsConfig

    return ProgressBarsConfig(globally=False, metric_calculations=False)
