"""Which of several points that hold the same was stored last, and what tells."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragval_pipeline.sources.embedders.models import same_model
from ragval_pipeline.text.times import parse_time

#: What told: the page, which lacks the texts of the others; times of embedding, the model that queries are embedded
#: with, ids that count up or begin with a time.
Basis = Literal["page", "date", "model", "id"]


@dataclass(frozen=True)
class Stored:
    """What a point says of its ingestion.

    Attributes:
        embedded_at: Time of embedding as stored.
        model: Embedding model as stored.
    """

    embedded_at: str | None = None
    model: str | None = None


def newest_of(points: Mapping[str, Stored], *, model: str | None) -> tuple[str, Basis] | None:
    """The point that was stored last, and what told; None when nothing tells.

    Args:
        points: What is stored, by point id.
        model: The model that queries are embedded with, whose points are the present generation.
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
    """A number for ids that count up, and for UUIDs of version 7, which begin with their time; None for all others."""
    if name.isdecimal():
        return int(name)
    try:
        parsed = uuid.UUID(name)
    except ValueError:
        return None
    return parsed.int if parsed.version == 7 else None  # definition
