"""Places on a page: stretches of its letters, and what several of them cover together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TypeAlias

#: The first letter on the page, and the one after the last.
Place: TypeAlias = tuple[int, int]


def united(places: Iterable[Place]) -> list[Place]:
    """The parts of a page that some places cover together, in order; touching ones are joined."""
    found: list[Place] = []
    for first, end in sorted(places):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((first, end))
    return found


def is_within(place: Place, held: Sequence[Place]) -> bool:
    """Whether a place is in one of the parts that ``united`` gave."""
    at = bisect_right(held, (place[0], float("inf"))) - 1
    return at >= 0 and held[at][1] >= place[1]
