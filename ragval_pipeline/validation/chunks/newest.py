"""Which of several points with the same content was stored last, and the evidence."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragval_pipeline.sources.embedders.models import same_model
from ragval_pipeline.text.times import parse_time

#: Kinds of evidence: the page, which lacks the texts of the others; embedding times; the queries' model; ids that count
#: up or begin with a time.
Basis = Literal["page", "date", "model", "id"]


@dataclass(frozen=True)
class Stored:
    """A point's data about its ingestion.

    Attributes:
        embedded_at: Embedding time as stored.
        model: Embedding model as stored.
    """

    embedded_at: str | None = None
    model: str | None = None


def newest_of(points: Mapping[str, Stored], *, model: str | None) -> tuple[str, Basis] | None:
    """The point that was stored last, and the evidence; None if unknown.

    Args:
        points: Stored data, by point id.
        model: The queries' model, whose points are the current generation.
    """
    ways: tuple[tuple[Basis, Callable[[str], Any]], ...] = (
        ("date", lambda name: parse_time(points[name].embedded_at)),
        ("model", lambda name: _is_in_use(points[name].model, model)),
        ("id", _order_of_id),
    )
    for basis, rank in ways:
        ranks = {name: rank(name) for name in points}
        known = [value for value in ranks.values() if value is not None]
        if len(known) == len(points) > 0 and known.count(max(known)) == 1:
            return max(ranks, key=ranks.__getitem__), basis
    return None


def _is_in_use(stored: str | None, model: str | None) -> bool | None:
    return None if stored is None or model is None else same_model(stored, model)


def _order_of_id(name: str) -> int | None:
    """A number for integer ids, and for UUIDs of version 7, which begin with a time; None for all others."""
    if name.isdecimal():
        return int(name)
    try:
        parsed = uuid.UUID(name)
    except ValueError:
        return None
    return parsed.int if parsed.version == 7 else None  # definition
