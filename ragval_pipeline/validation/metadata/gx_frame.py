"""Scalar columns for Great Expectations, derived from a snapshot's kinds and typed columns.

What lives here: the columns. Kinds are judged before GX sees them: a pandas column would turn an integer with one null
into a float, and GX calls an empty list long enough. What does not: what is expected of them (``gx_suite``).
"""

from __future__ import annotations

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
