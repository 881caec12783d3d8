"""The kind of a payload value before any typed column hides it, including whether it is empty."""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

from ragval_pipeline.text.characters import encodable, is_blank

Kind = Literal[
    "absent", "null", "blank", "empty", "bool", "int", "float", "str", "strings", "list", "object",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)
#: Present but empty: null, "", only blanks or zero-width characters, [], {}.
EMPTY_KINDS: frozenset[Kind] = frozenset({"null", "blank", "empty"})


def kind_of(present: bool, value: Any) -> Kind:
    """The kind of one payload value; 0, 0.0 and false are not empty."""
    if not present:
        return "absent"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "str" if not is_blank(value) else "blank"
    if not value:
        return "empty"
    if isinstance(value, list):
        if all(isinstance(entry, str) and is_blank(entry) for entry in value):
            return "empty"
        return "strings" if all(isinstance(entry, str) for entry in value) else "list"
    return "object"


#: Characters of a value that are displayed.
_SHOWN = 200


def shown(value: Any) -> str:
    """A value as JSON text for display, cut at ``_SHOWN`` characters; what JSON cannot hold is named by type."""
    if isinstance(value, str):
        value = value[:_SHOWN]  # encode only the start of a text of megabytes
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):  # numbers of thousands of digits, keys that are not texts, depth
        text = f"({type(value).__name__})"
    return encodable(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def whole_number(value: Any) -> int | None:
    """The value as a 64-bit integer; integral floats count, booleans and texts do not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not value.is_integer():  # also excludes NaN and infinity
        return None
    whole = int(value)
    return whole if -(2**63) <= whole < 2**63 else None
