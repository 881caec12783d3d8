"""The one way in which reports become JSON: UTF-8, unrounded floats, no NaN, no encoding errors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ragval_pipeline.text.characters import encodable

#: Control characters that JSON may hold raw, and those that change how a line reads (CVE-2021-42574).
_ESCAPED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NUMBER = r" *-?[0-9][0-9.e+-]*"
#: A list of numbers, as indented by ``json.dumps``.
_NUMBERS = re.compile(rf"\[\n((?:{_NUMBER},\n)*{_NUMBER}\n) *\]")


def json_value(value: Any) -> Any:
    """The value in JSON's own types: NaN and infinities become null, sets sorted lists, unknown types their text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, BaseModel):
        return json_value(value.model_dump())
    if isinstance(value, Mapping):
        return {encodable(str(key)): json_value(entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((json_value(entry) for entry in value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [json_value(entry) for entry in value]
    return json_value(_plain(value))


def json_bytes(value: Any) -> bytes:
    """A JSON file, indented by two, with a line break at its end."""
    return f"{_indented_text(value)}\n".encode()


def json_pieces(values: BaseModel | Mapping[str, Any]) -> Iterator[bytes]:
    """``json_bytes`` of an object in pieces: long lists are converted entry by entry."""
    yield b"{"
    for number, (name, value) in enumerate(dict(values).items()):
        yield f"{',' if number else ''}\n  {json.dumps(name)}: ".encode()
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            yield _indented(value, 1)
            continue
        for place, entry in enumerate(value):
            yield (b"," if place else b"[") + b"\n    " + _indented(entry, 2)
        yield b"\n  ]"
    yield b"\n}\n"


def _indented(value: Any, depth: int) -> bytes:
    # Within strings, JSON escapes line breaks.
    return _indented_text(value).replace("\n", "\n" + "  " * depth).encode()


def _indented_text(value: Any) -> str:
    """JSON with one line per value, except lists of numbers: a vector is one line."""
    text = _escaped(json.dumps(json_value(value), ensure_ascii=False, indent=2, allow_nan=False))
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text)


def json_line(value: Any) -> str:
    """JSON on one line with sorted keys, for a cell of a table."""
    return _escaped(json.dumps(json_value(value), ensure_ascii=False, sort_keys=True, allow_nan=False))


def _escaped(text: str) -> str:
    """JSON that shows as what it says in a terminal or an editor; it means the same."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    """The Python value of numpy numbers and the like; times and paths as text."""
    item = getattr(value, "item", None)
    if callable(item) and not isinstance(value, type):
        plain = value.tolist() if hasattr(value, "tolist") else item()
        if type(plain) is not type(value):
            return plain
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if callable(isoformat) else str(value)
