"""What is read of a collection: points, and the hits of searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple


class Point(NamedTuple):
    """One stored point: its id as text, its payload, and its vector if requested."""

    id: str
    payload: dict[str, Any]
    vector: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a search: rank from 1, id as text, the raw score of the collection's distance, payload."""

    rank: int
    id: str
    score: float
    payload: dict[str, Any] = field(default_factory=dict)


class Found(NamedTuple):
    """The result of one of many searches.

    Attributes:
        hits: Best first.
        milliseconds: Its share of the call's time, retries and waits included.
        asked_at: When that call began, UTC.
    """

    hits: list[Hit]
    milliseconds: float
    asked_at: datetime
