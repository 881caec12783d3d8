"""How payload fields are named to Qdrant, whose keys are JSON paths."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

#: A key that Qdrant reads as it stands; anything else must be quoted, or the request is refused.
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
#: A JSON path as people write it in a filter: keys, plain or quoted, each with array brackets.
_KEY = r'(?:[\w-]+|"[^"]+")(?:\[\d*\])*'
_PATH = re.compile(rf"{_KEY}(?:\.{_KEY})*")


def payload_selector(fields: Sequence[str] | None) -> bool | list[str]:
    """What ``with_payload`` must be to get ``fields``.

    A dotted name is asked for as a key that holds dots and as a path into nested payload, ``field#path`` also as the
    field whose JSON text holds the path. A name that no path can hold (with a quotation mark, or empty) makes it the
    whole payload.

    Args:
        fields: Payload names; null: the whole payload.
    """
    if fields is None or any(not name or '"' in name for name in fields):
        return True
    return list(dict.fromkeys(key for name in fields for key in _keys(name)))


def filter_key(name: str) -> str:
    """The key of a filter condition: a JSON path as it stands, any other name quoted."""
    return name if _PATH.fullmatch(name) or '"' in name else f'"{name}"'


def filter_json(equal: Mapping[str, str | int | bool], part: tuple[int, int] | None) -> dict[str, Any] | None:
    """The filter of a request: payload equality, and one slice of the ids; None without either.

    Args:
        equal: Payload name to value.
        part: Number of the slice, and how many there are.
    """
    must: list[dict[str, Any]] = [{"key": filter_key(key), "match": {"value": value}} for key, value in equal.items()]
    if part is not None:
        must.append({"slice": {"index": part[0], "total": part[1]}})
    return {"must": must} if must else None


def filter_model(equal: Mapping[str, str | int | bool], part: tuple[int, int] | None) -> Any:
    """``filter_json`` as qdrant-client takes it."""
    from qdrant_client import models

    found = filter_json(equal, part)
    return None if found is None else models.Filter.model_validate(found)


def unquoted(path: str) -> str:
    """A JSON path without quotation marks, which a key may have and need not: two spellings of one field are equal."""
    return re.sub(r'"([^"]+)"', r"\1", path)


def _keys(name: str) -> list[str]:
    outer, inside, _ = name.partition("#")
    if outer and inside:
        return [_quoted(name), *_keys(outer)]
    parts = name.split(".")
    if len(parts) == 1 or not all(parts):
        return [_quoted(name)]
    return [_quoted(name), ".".join(map(_quoted, parts))]


def _quoted(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else f'"{key}"'
