"""The kind of a payload value before any typed column hides it, including whether it is empty."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, get_args

from ragval_pipeline.text.characters import encodable, is_blank

Kind = Literal[
    "absent", "null", "blank", "empty", "bool", "int", "float", "str", "strings", "list", "object",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)
#: Present but empty: null, "", only blanks or zero-width characters, [], {}.
EMPTY_KINDS: frozenset[Kind] = frozenset({"null", "blank", "empty"})
#: Placeholder for a key's number, at the end of a name.
NUMBERED = "*"
_DIGITS = re.compile(r"[0-9]{1,4}")


def lookup(payload: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    """Whether the payload holds ``path``, and its value.

    Dots reach into nested objects, ``field#path`` into a JSON object stored as text, and ``name*`` takes the values of
    all keys that are this name and a number, in order. A key with such characters takes precedence.
    """
    if path in payload:
        return True, payload[path]
    outer, inside, inner = path.partition("#")
    value: Any = payload
    for part in outer.split("."):
        if not isinstance(value, Mapping):
            return False, None
        if part in value:
            value = value[part]
            continue
        held = numbered(value, part.removesuffix(NUMBERED)) if part.endswith(NUMBERED) else []
        if not held:
            return False, None
        value = [value[name] for name in held]
    if not inside:
        return True, value
    within = json_object(value)
    return (False, None) if within is None else lookup(within, inner)


def numbered(names: Iterable[str], stem: str) -> list[str]:
    """The names that consist of a stem and a number, by number: ``h1``, ``h2``."""
    found = [name for name in names if name.startswith(stem) and _DIGITS.fullmatch(name, len(stem))]
    return sorted(found, key=lambda name: int(name[len(stem) :]))


def payload_paths(payload: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[str]:
    """Every name of a payload that ``lookup`` finds, at most four levels deep, for objects and their values."""
    for name, value in payload.items():
        yield f"{prefix}{name}"
        inside, joint = (value, ".") if isinstance(value, Mapping) else (json_object(value), "#")
        if inside is not None and depth < 3:
            yield from payload_paths(inside, f"{prefix}{name}{joint}", depth + 1)


def json_object(value: Any) -> Mapping[str, Any] | None:
    """The JSON object in a text; None for anything else. Do not modify it: it is cached."""
    return _parsed(value) if isinstance(value, str) and value.startswith("{") else None


@lru_cache(maxsize=4)  # several fields of one point may be in one text
def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None


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
