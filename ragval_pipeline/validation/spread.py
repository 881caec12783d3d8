"""Taking some of many, evenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def spread_over(items: Sequence[T], wanted: int) -> list[T]:
    """At most ``wanted`` of the items, in their order, as far apart as possible."""
    if len(items) <= wanted:
        return list(items)
    return [items[number * len(items) // wanted] for number in range(wanted)]
