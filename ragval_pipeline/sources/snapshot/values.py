"""What a payload value is, before any typed column can hide it: its kind, and whether it is empty.

What lives here: looking at one value. What does not: which kinds a field may have (``validation/metadata``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

Kind = Literal[
    "absent", "null", "blank", "empty", "bool", "int", "float", "str", "strings", "list", "object",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)
#: Present, but nothing in it: null, "", blanks or zero-width characters only, [], {}.
EMPTY_KINDS: frozenset[Kind] = frozenset({"null", "blank", "empty"})

#: Characters that take no room: zero-width space, non-joiner, joiner, word joiner, byte order mark, soft hyphen.
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_NO_ZERO_WIDTH = dict.fromkeys(map(ord, ZERO_WIDTH))


def lookup(payload: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    """Whether the payload holds ``path``, and its value.

    A key that literally holds dots wins over reaching inside.
    """
    if path in payload:
        return True, payload[path]
    value: Any = payload
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False, None
        value = value[part]
    return True, value


def kind_of(present: bool, value: Any) -> Kind:
    """The kind of one payload value; 0, 0.0 and false are values, not emptiness."""
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
        return "strings" if all(isinstance(entry, str) for entry in value) else "list"
    return "object"


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but blanks and zero-width characters."""
    return not text or text.isspace() or not text.translate(_NO_ZERO_WIDTH).strip()


def shown(value: Any, *, limit: int = 200) -> str:
    """A value as JSON text for people, cut at ``limit`` characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[: limit - 1] + "…"
