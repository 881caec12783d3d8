"""Points and vectors of a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class StoredPoint:
    """A point as Qdrant holds it; ``vector`` is null for a point that lacks the collection's (named) vector."""

    id: str | int
    payload: dict[str, Any]
    vector: list[float] | None


@dataclass(frozen=True)
class VectorSpace:
    """What the collection's vectors are like."""

    size: int
    distance: str = "Cosine"
    name: str | None = None
