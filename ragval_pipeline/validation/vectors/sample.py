"""Which points are re-embedded: the same in every run over the same points."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ragval_pipeline.text.characters import is_blank

#: Snapshot columns that the choice needs.
COLUMNS = ("point_id", "text", "model", "embedded_at")
#: Points re-embedded with a provider that takes money, unless the suite says otherwise: a defect of 1.5 % of the
#: points is seen with a probability of 95 % (1 - 0.985 ** 200).
PAID_SAMPLE = 200  # work
#: Points that even the smallest stratum gets, so that a few points of another model or date are looked at.
PER_STRATUM = 3  # work


def wanted_points(identity_sample: int | None, *, free: bool) -> int | None:
    """How many points to re-embed; None: all (``embedding.identity_sample``)."""
    if identity_sample is not None:
        return identity_sample
    return None if free else PAID_SAMPLE


def choose_sample(rows: Iterable[Mapping[str, Any]], wanted: int | None) -> frozenset[str] | None:
    """The points to re-embed: those with the smallest hashes of their ids, of every model and day of embedding.

    Args:
        rows: All points, with ``COLUMNS``; those without text are never chosen.
        wanted: How many; None: all.

    Returns:
        Point ids; None for all that have a text.
    """
    if wanted is None:
        return None
    strata: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in rows:
        if row["text"] is not None and not is_blank(row["text"]):
            key = (row["model"] or "", (row["embedded_at"] or "")[:10])  # definition
            strata.setdefault(key, []).append((id_hash(row["point_id"]), row["point_id"]))
    total = sum(map(len, strata.values()))
    if total <= wanted:
        return frozenset(name for points in strata.values() for _, name in points)
    chosen: set[str] = set()
    # The smallest strata first: what their guaranteed share costs is taken from the large ones.
    for points in sorted(strata.values(), key=len):
        share = max(PER_STRATUM, round(wanted * len(points) / total))
        chosen.update(name for _, name in sorted(points)[: min(share, wanted - len(chosen))])
    return frozenset(chosen)


def id_hash(name: str) -> int:
    """A number that depends on the point's id alone, and looks drawn."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")  # definition
