"""Counting the four levels over the collection, slice by slice.

What lives here: from snapshot batches to counts and offenders that merge. What does not: the findings (``measure``)
and the same judged by Great Expectations (``expectations``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ragval_pipeline.sources.snapshot.schema import LIST_FIELDS, kind_column
from ragval_pipeline.sources.snapshot.values import EMPTY_KINDS
from ragval_pipeline.validation.metadata.rules import (
    allowed_kinds,
    canonical_of,
    has_value_rule,
    is_valid,
    judged_kind,
)

if TYPE_CHECKING:
    import pyarrow as pa

Level = Literal["missing", "empty", "wrong_type", "invalid"]
LEVELS: tuple[Level, ...] = ("missing", "empty", "wrong_type", "invalid")


@dataclass(frozen=True)
class Offender:
    """One point that breaks one level for one field."""

    point_id: str
    page_key: str | None
    page_url: str | None
    shown: str | None = None
    chunk_index: int | None = None
    kind: str | None = None


@dataclass
class LevelCounts:
    """Partial result over some points; ``merge`` adds another.

    Args:
        points: Points looked at.
        complete: Points with every required field present and not empty.
        offenders: By level, then payload name.
        kinds: Points by payload name and kind.
    """

    points: int = 0
    complete: int = 0
    offenders: dict[Level, dict[str, list[Offender]]] = field(default_factory=dict)
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)

    def merge(self, other: LevelCounts) -> LevelCounts:
        """The counts of both slices."""
        merged = LevelCounts()
        merged.add(self)
        merged.add(other)
        return merged

    def add(self, other: LevelCounts) -> None:
        """Count another slice in."""
        self.points += other.points
        self.complete += other.complete
        for level, by_field in other.offenders.items():
            for name, offenders in by_field.items():
                self.offenders.setdefault(level, {}).setdefault(name, []).extend(offenders)
        for name, by_kind in other.kinds.items():
            known = self.kinds.setdefault(name, {})
            for kind, number in by_kind.items():
                known[kind] = known.get(kind, 0) + number


def needed_columns(fields: Mapping[str, str], required: Sequence[str]) -> list[str]:
    """Snapshot columns that ``count_levels`` reads."""
    judged = dict.fromkeys(["chunk_index", *(name for name in canonical_of(fields).values() if name != "text")])
    tracked = dict.fromkeys([*fields.values(), *required])
    return ["point_id", "page_key", "page_url", "odd", *judged, *map(kind_column, tracked)]


def present_fields(fields: Mapping[str, str], required: Sequence[str]) -> list[str]:
    """Payload names that every point must hold and fill: those that are required, and the text.

    Without its text a point says nothing, and hardly anything can be judged.
    """
    return list(dict.fromkeys([*required, *(fields[name] for name in ("text",) if name in fields)]))


def count_levels(
    batches: Iterable[pa.RecordBatch],
    *,
    fields: Mapping[str, str],
    required: Sequence[str],
    now: datetime,
    urls_required: bool,
) -> LevelCounts:
    """Count the four levels.

    Args:
        batches: Snapshot batches with ``needed_columns``.
        fields: Canonical name to payload name.
        required: Payload names that every point must hold.
        now: Time of the run, for times in the future.
        urls_required: Whether ``source_url`` must be an http(s) URL; false where ids stand in for pages.

    Returns:
        Presence and emptiness for ``present_fields``, of which only those that are required make a point incomplete;
        type and rule for every mapped field that holds something.
    """
    total = LevelCounts()
    for batch in batches:
        total.add(_count_batch(batch, fields, required, now, urls_required))
    return total


def _count_batch(
    batch: pa.RecordBatch, fields: Mapping[str, str], required: Sequence[str], now: datetime, urls_required: bool
) -> LevelCounts:
    counts = LevelCounts(points=batch.num_rows)
    incomplete: set[int] = set()
    present = present_fields(fields, required)
    for name in dict.fromkeys([*fields.values(), *required]):
        kinds = batch.column(kind_column(name)).to_pylist()
        counts.kinds[name] = _tally(kinds)
        if name in present:
            missing = [row for row, kind in enumerate(kinds) if kind == "absent"]
            empty = [row for row, kind in enumerate(kinds) if kind in EMPTY_KINDS]
            if name in required:
                incomplete.update(missing, empty)
            _note(counts, "missing", name, batch, missing)
            _note(counts, "empty", name, batch, empty)
    for name, canonical in canonical_of(fields).items():
        for level, rows in _judge_field(batch, canonical, name, now, urls_required):
            _note(counts, level, name, batch, rows, column=canonical)
    counts.complete = batch.num_rows - len(incomplete)
    return counts


def _judge_field(
    batch: pa.RecordBatch, canonical: str, name: str, now: datetime, urls_required: bool
) -> Iterator[tuple[Level, list[int]]]:
    stored = batch.column(kind_column(name)).to_pylist()
    # The texts themselves are not carried: any text is a valid one.
    values = batch.column(canonical).to_pylist() if canonical != "text" else [None] * len(stored)
    kinds = [judged_kind(canonical, kind, value) for kind, value in zip(stored, values, strict=True)]
    allowed = allowed_kinds(canonical, urls_required=urls_required)
    yield "wrong_type", [row for row, kind in enumerate(kinds) if kind is not None and kind not in allowed]
    if has_value_rule(canonical, urls_required=urls_required):
        yield (
            "invalid",
            [
                row
                for row, kind in enumerate(kinds)
                if kind in allowed and not is_valid(canonical, kind, values[row], now)
            ],
        )


def _note(
    counts: LevelCounts, level: Level, name: str, batch: pa.RecordBatch, rows: list[int], *, column: str | None = None
) -> None:
    if not rows:
        return
    ids, keys, urls, indices, kinds = (
        batch.column(key) for key in ("point_id", "page_key", "page_url", "chunk_index", kind_column(name))
    )
    noted = counts.offenders.setdefault(level, {}).setdefault(name, [])
    for row in rows:
        shown = None if column is None else _shown(batch, row, name, column)
        noted.append(
            Offender(
                point_id=ids[row].as_py(),
                page_key=keys[row].as_py(),
                page_url=urls[row].as_py(),
                shown=shown,
                chunk_index=indices[row].as_py(),
                kind=kinds[row].as_py(),
            )
        )


def _shown(batch: pa.RecordBatch, row: int, name: str, column: str) -> str | None:
    odd = batch.column("odd")[row].as_py()
    if odd and name in (values := json.loads(odd)):
        return str(values[name])
    if column == "text":
        return None
    value = batch.column(column)[row].as_py()
    if column in LIST_FIELDS and isinstance(value, list) and len(value) == 1:
        value = value[0]
    return json.dumps(value, ensure_ascii=False)[:200]


def _tally(kinds: Sequence[str]) -> dict[str, int]:
    tally: dict[str, int] = {}
    for kind in kinds:
        tally[kind] = tally.get(kind, 0) + 1
    return tally
