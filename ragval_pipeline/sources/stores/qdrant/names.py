"""Qdrant's names of points and payload fields: ids as text and their order, and field names as JSON paths."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_AS_WRITTEN = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_CANONICAL = re.compile(_AS_WRITTEN, re.ASCII)
_ALL_CANONICAL = re.compile(rf"{_AS_WRITTEN}(?:\n{_AS_WRITTEN})*", re.ASCII)


def canonical_id(point_id: object) -> str:
    """A point id as text: a UUID or 32 hex digits lower-case with dashes, everything else unchanged.

    MD5 sums are stored without dashes and returned with them (profile ``retrieval-pipeline``).
    """
    if isinstance(point_id, str) and _CANONICAL.fullmatch(point_id):  # the form that servers return
        return point_id
    text = str(point_id)
    # qdrant-client accepts these notations too.
    bare = text.strip().removeprefix("urn:uuid:").strip("{}")
    # A number is an integer id, however many digits it has.
    if isinstance(point_id, int) or not _UUID.fullmatch(bare):
        return text
    digits = bare.replace("-", "").lower()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def canonical_ids(point_ids: Sequence[Any]) -> list[str]:
    """``canonical_id`` of each of many, checked as one text if all are texts."""
    try:
        if _ALL_CANONICAL.fullmatch("\n".join(point_ids)):
            return list(point_ids)
    except TypeError:
        pass  # integers
    return [canonical_id(point_id) for point_id in point_ids]


def id_order(name: str) -> tuple[int, int, str]:
    """The order of Qdrant's scroll: integers by value, then UUIDs as text."""
    return (0, int(name), "") if name.isascii() and name.isdigit() and len(name) <= 20 else (1, 0, name)


#: A key that needs no quotes; any other must be quoted, or Qdrant refuses the request.
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
#: A JSON path as written in a filter: keys, plain or quoted, each with array brackets.
_KEY = r'(?:[\w-]+|"[^"]+")(?:\[\d*\])*'
_PATH = re.compile(rf"{_KEY}(?:\.{_KEY})*")


def payload_selector(fields: Sequence[str] | None) -> bool | list[str]:
    """The value of ``with_payload`` to get ``fields``.

    A dotted name is requested as a key with dots and as a path into nested payload, ``field#path`` also as the field
    with the JSON text, ``name*`` also as its parent. A name that cannot be a path (with a quotation mark, or empty),
    and ``name*`` at the top level, select the whole payload.
    """
    if fields is None or any(not name or '"' in name or _is_numbered_at_top(name) for name in fields):
        return True
    return list(dict.fromkeys(key for name in fields for key in _keys(name)))


def filter_key(name: str) -> str:
    """The key of a filter condition: a JSON path unchanged, any other name quoted."""
    return name if _PATH.fullmatch(name) or '"' in name else f'"{name}"'


def filter_json(equal: Mapping[str, str | int | bool], part: tuple[int, int] | None) -> dict[str, Any] | None:
    """The filter of a request: payload equality, and one slice of the ids; None without either.

    ``part`` is the number of the slice, and the number of slices.
    """
    must: list[dict[str, Any]] = [{"key": filter_key(key), "match": {"value": value}} for key, value in equal.items()]
    if part is not None:
        must.append({"slice": {"index": part[0], "total": part[1]}})
    return {"must": must} if must else None


def filter_model(equal: Mapping[str, str | int | bool], part: tuple[int, int] | None) -> Any:
    """``filter_json`` as qdrant-client's model."""
    from qdrant_client import models

    found = filter_json(equal, part)
    return None if found is None else models.Filter.model_validate(found)


def unquoted(path: str) -> str:
    """A JSON path without its optional quotation marks, to compare field names."""
    return re.sub(r'"([^"]+)"', r"\1", path)


def _keys(name: str) -> list[str]:
    outer, inside, _ = name.partition("#")
    if outer and inside:
        return [_quoted(name), *_keys(outer)]
    parts = name.split(".")
    if len(parts) == 1 or not all(parts):
        return [_quoted(name)]
    inner = parts[:-1] if parts[-1].endswith("*") else parts
    return [_quoted(name), ".".join(map(_quoted, inner))]


def _is_numbered_at_top(name: str) -> bool:
    return name.endswith("*") and "." not in name and "#" not in name


def _quoted(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else f'"{key}"'
