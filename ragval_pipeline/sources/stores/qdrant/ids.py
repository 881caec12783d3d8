"""Point ids as text, and their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_AS_WRITTEN = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_CANONICAL = re.compile(_AS_WRITTEN, re.ASCII)
_ALL_CANONICAL = re.compile(rf"{_AS_WRITTEN}(?:\n{_AS_WRITTEN})*", re.ASCII)


def canonical_id(point_id: object) -> str:
    """A point id as text: a UUID or 32 hex digits lower-case with dashes, everything else as it is.

    MD5 sums go into Qdrant without dashes and come back with them (profile ``retrieval-pipeline``).
    """
    if isinstance(point_id, str) and _CANONICAL.fullmatch(point_id):  # as servers write them
        return point_id
    text = str(point_id)
    # qdrant-client takes these notations too.
    bare = text.strip().removeprefix("urn:uuid:").strip("{}")
    # A number is an id of its own, however many digits it has.
    if isinstance(point_id, int) or not _UUID.fullmatch(bare):
        return text
    digits = bare.replace("-", "").lower()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def canonical_ids(point_ids: Sequence[Any]) -> list[str]:
    """``canonical_id`` of each of many, looked at as one text where all are texts."""
    try:
        if _ALL_CANONICAL.fullmatch("\n".join(point_ids)):
            return list(point_ids)
    except TypeError:
        pass  # integers
    return [canonical_id(point_id) for point_id in point_ids]


def id_order(name: str) -> tuple[int, int, str]:
    """The order of Qdrant's scroll: integers by value, then UUIDs as text."""
    return (0, int(name), "") if name.isascii() and name.isdigit() and len(name) <= 20 else (1, 0, name)
