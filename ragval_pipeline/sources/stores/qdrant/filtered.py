"""What the suite's filter leaves out of a collection, field by field: why these points do not pass, and their pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.sources.payload_paths import lookup, payload_paths

#: Points outside the filter that are read, to say why they are outside.
MOST_READ = 10_000
#: Of these, points of which all payload names are read.
WHOLE = 50
#: Values named of a field.
_NAMED = 5

Value = str | int | bool


class LeftOut(BaseModel):
    """Points outside the filter because of one of its fields.

    Attributes:
        field: Payload name in the filter.
        value: The value that the filter requires.
        lacking: Address to its points that have no value of the field; "" is the address of points without one.
        other: Address to its points that have another value.
        values: The commonest other values, as text.
        elsewhere: A payload name that ends like the field and that these points have instead; None: there is none.
        passing: Points of the collection that have the value there.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    field: str
    value: Value
    lacking: dict[str, int] = {}
    other: dict[str, int] = {}
    values: tuple[str, ...] = ()
    elsewhere: str | None = None
    passing: int = 0

    @property
    def points(self) -> int:
        """Points that were found outside because of this field."""
        return sum(self.lacking.values()) + sum(self.other.values())


def filter_words(equal: Mapping[str, Value]) -> str:
    """A filter in words, as it is written in a suite."""
    return ", ".join(f"{field}: {value}" for field, value in sorted(equal.items()))


def left_out(
    payloads: Iterable[Mapping[str, Any]], equal: Mapping[str, Value], address: str | None
) -> tuple[LeftOut, ...]:
    """Why points do not pass a filter, by field; fields that leave out none are not listed.

    Args:
        payloads: Of points outside the filter.
        equal: The filter.
        address: Payload name of a point's page; None: there is none.
    """
    lacking: dict[str, Counter[str]] = {field: Counter() for field in equal}
    other: dict[str, Counter[str]] = {field: Counter() for field in equal}
    values: dict[str, Counter[str]] = {field: Counter() for field in equal}
    for payload in payloads:
        page = "" if address is None else str(lookup(payload, address)[1] or "")
        for field, wanted in equal.items():
            value = lookup(payload, field)[1]
            if value is None or value in ("", []):
                lacking[field][page] += 1
            elif value != wanted and not (isinstance(value, list) and wanted in value):
                other[field][page] += 1
                values[field].update([str(value)] if not isinstance(value, list) else map(str, value))
    found = (
        LeftOut(
            field=field,
            value=wanted,
            lacking=dict(lacking[field]),
            other=dict(other[field]),
            values=tuple(value for value, _ in values[field].most_common(_NAMED)),
        )
        for field, wanted in equal.items()
    )
    return tuple(entry for entry in found if entry.points)


def named_alike(field: str, payloads: Sequence[Mapping[str, Any]]) -> list[str]:
    """Payload names that end like a field and are not it, the commonest first."""
    leaf = _leaf(field)
    names = Counter(path for payload in payloads for path in payload_paths(payload) if path != field)
    return [path for path, _ in names.most_common() if _leaf(path) == leaf and "#" not in path]


def _leaf(path: str) -> str:
    return path.rpartition(".")[2].casefold()
