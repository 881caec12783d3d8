"""Connected components of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)


def groups_of_pairs(pairs: Iterable[tuple[T, T]]) -> list[list[T]]:
    """The groups, each sorted, by their first members; a member paired only with itself is its own group."""
    groups: dict[T, list[T]] = {}
    for first, second in pairs:
        one, other = groups.setdefault(first, [first]), groups.setdefault(second, [second])
        if one is not other:
            # The smaller one moves: each member moves at most log2(n) times.
            small, large = sorted((one, other), key=len)
            large.extend(small)
            groups.update(dict.fromkeys(small, large))
    return sorted(sorted(group) for group in {id(group): group for group in groups.values()}.values())
