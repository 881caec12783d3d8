"""Which points are re-embedded: the same in every run over the same points, evenly spread, suspects first."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ragval_pipeline.lazy import pc
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.chunks.compared import compare
from ragval_pipeline.validation.chunks.content import lost_passages, next_to_lost
from ragval_pipeline.validation.facts.store import Facts

T = TypeVar("T")


def spread_over(items: Sequence[T], wanted: int) -> list[T]:
    """At most ``wanted`` of the items, in order, as far apart as possible."""
    if len(items) <= wanted:
        return list(items)
    return [items[number * len(items) // wanted] for number in range(wanted)]


#: Snapshot columns for the choice.
COLUMNS = ("point_id", "text", "model", "embedded_at")
#: Points re-embedded with a paid provider, unless the suite says otherwise: a defect of 1.5 % of the points is detected
#: with a probability of 95 % (1 - 0.985 ** 200).
PAID_SAMPLE = 200  # work
#: Minimum points per stratum, so that a few points of another model or date are included.
PER_STRATUM = 3  # work
#: Maximum share of suspects in a sample: the rest represents the collection.
SUSPECTED = 0.25  # work


def wanted_points(identity_sample: int | None, *, free: bool) -> int | None:
    """How many points to re-embed; None: all (``embedding.identity_sample``)."""
    if identity_sample is not None:
        return identity_sample
    return None if free else PAID_SAMPLE


def suspects(facts: Facts) -> frozenset[str]:
    """Points whose text may have changed after it was embedded.

    Their text differs from its page or its stored hash, or is next to content that no chunk of the page has.
    """
    if facts.manifest.crash:
        return frozenset()
    compared = compare(facts)
    hashed = facts.table("point_id", "stored_hash", "hashed_as")
    other = pc.and_(pc.is_valid(hashed.column("stored_hash")), pc.is_null(hashed.column("hashed_as")))
    lacking = ((compared.by_page.get(page.page_key, ()), lost_passages(page.blocks)) for page in compared.read)
    return frozenset().union(
        (name for name, kind in compared.classes.items() if kind != "verified"),
        hashed.column("point_id").filter(other).to_pylist(),
        *(next_to_lost(chunks, passages) for chunks, passages in lacking),
    )


def choose_sample(rows: Iterable[Mapping[str, Any]], wanted: int, suspected: Collection[str] = ()) -> frozenset[str]:
    """The points to re-embed: those with the smallest id hashes, for every model and embedding day.

    ``rows`` have ``COLUMNS``; points without text are never chosen. ``suspected`` points have priority, up to
    ``SUSPECTED`` of the sample.

    Returns:
        Point ids.
    """
    strata: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in rows:
        if row["text"] is not None and not is_blank(row["text"]):
            key = (row["model"] or "", (row["embedded_at"] or "")[:10])  # definition
            strata.setdefault(key, []).append((id_hash(row["point_id"]), row["point_id"]))
    total = sum(map(len, strata.values()))
    if total <= wanted:
        return frozenset(name for points in strata.values() for _, name in points)
    every = sorted(point for points in strata.values() for point in points if point[1] in suspected)
    chosen = {name for _, name in every[: int(SUSPECTED * wanted)]}
    left = wanted - len(chosen)
    # The smallest strata first: their guaranteed share is taken from the large ones.
    for points in sorted(strata.values(), key=len):
        share = max(PER_STRATUM, round(left * len(points) / total))
        others = [name for _, name in sorted(points) if name not in chosen]
        chosen.update(others[: min(share, wanted - len(chosen))])
    return frozenset(chosen)


def id_hash(name: str) -> int:
    """A pseudo-random number that only depends on the point's id."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")  # definition
