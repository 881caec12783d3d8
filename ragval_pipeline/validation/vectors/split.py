"""What tells the points of another model from the rest: the model's name, the day of embedding, or the id.

What lives here: looking for the one attribute that separates two groups. What does not: making the groups
(``populations``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragval_pipeline.sources.snapshot.lookup import id_order

#: Snapshot columns that may explain a split.
COLUMNS = ("point_id", "model", "embedded_at")
#: Share of each group that must be on its side.
SEPARATES = 0.95


def explain_split(
    other: Collection[str], rest: Collection[str], rows: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any] | None:
    """The attribute that separates two groups of points.

    Args:
        other: Points of the smaller or foreign group.
        rest: The other ones.
        rows: ``COLUMNS`` of all of them.

    Returns:
        ``{"by": "model" | "embedded_at" | "id", ...}`` with the values of both sides; null when nothing separates them.
    """
    by_model = _by_model(_values(other, rows, "model"), _values(rest, rows, "model"))
    if by_model is not None:
        return by_model
    by_date = _by_order(_values(other, rows, "embedded_at"), _values(rest, rows, "embedded_at"))
    if by_date is not None:
        return {"by": "embedded_at", **by_date}
    by_id = _by_order([id_order(name) for name in other], [id_order(name) for name in rest])
    if by_id is None:
        return None
    return {"by": "id", **{name: value[2] or str(value[1]) for name, value in by_id.items()}}


def _values(ids: Collection[str], rows: Mapping[str, Mapping[str, Any]], column: str) -> list[Any]:
    values = [rows[name][column] for name in ids if name in rows]
    return [value for value in values if value] if all(values) or column == "model" else []


def _by_model(other: Sequence[str], rest: Sequence[str]) -> dict[str, Any] | None:
    if not other or not rest:
        return None
    (first, count), (second, rest_count) = Counter(other).most_common(1)[0], Counter(rest).most_common(1)[0]
    if first == second or count < SEPARATES * len(other) or rest_count < SEPARATES * len(rest):
        return None
    return {"by": "model", "other": first, "rest": second}


def _by_order(other: Sequence[Any], rest: Sequence[Any]) -> dict[str, Any] | None:
    """The cut in the order of the values with the other group on one side of it."""
    if not other or not rest:
        return None
    ordered = sorted([*((value, True) for value in other), *((value, False) for value in rest)])
    seen = [0, 0]
    best: tuple[float, dict[str, Any] | None] = (0.0, None)
    for (value, is_other), (following, _) in pairwise(ordered):
        seen[is_other] += 1
        if value == following:
            continue
        before, rest_before = seen[1] / len(other), seen[0] / len(rest)
        later = min(1 - before, rest_before)
        earlier = min(before, 1 - rest_before)
        if later > max(best[0], earlier):
            best = later, {"other_from": following, "rest_until": value}
        elif earlier > best[0]:
            best = earlier, {"other_until": value, "rest_from": following}
    return best[1] if best[0] >= SEPARATES else None
