"""What a suite says of a payload, as the tables under the views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragval_pipeline.lazy import pa
from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.validation.payload.levels import present_fields
from ragval_pipeline.validation.views.tables import raw_schemas


def fields_table(fields: Mapping[str, str], required: Sequence[str]) -> pa.Table:
    """``_fields``: the payload fields that a suite maps or requires.

    Args:
        fields: Canonical name to payload name.
        required: Payload names that every point must have.
    """
    needed = present_fields(fields, required)
    rows = [{"field": name, "path": path, "needed": path in needed} for name, path in fields.items()]
    rows += [{"field": None, "path": path, "needed": True} for path in required if path not in fields.values()]
    return table_of(rows, raw_schemas()["_fields"])
