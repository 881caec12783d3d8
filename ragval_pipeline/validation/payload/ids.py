"""Ids: the payload's, which must be single, and the points', where a rule says what they must be.

What lives here: ``payload.duplicate_id`` and ``payload.id_rule``. What does not: whether an id is well formed
(``validation/metadata``).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref

#: Snapshot columns that ``collect_ids`` and ``collect_rule_breaks`` need.
COLUMNS = (*REF_COLUMNS, "chunk_id", "chunk_index")

#: Points by payload id; each with its chunk index.
Ids = dict[str, list[tuple[PointRef, int | None]]]
#: Share of the ids that a page numbers for itself.
_NUMBERED = 0.5
_SHOWN = 20


def collect_ids(rows: Iterable[Mapping[str, Any]]) -> Ids:
    """Points by payload id."""
    ids: Ids = {}
    for row in rows:
        if row["chunk_id"] and row["chunk_id"].strip():
            ids.setdefault(row["chunk_id"], []).append((point_ref(row), row["chunk_index"]))
    return ids


def merge_ids(slices: Iterable[Ids]) -> Ids:
    """Points by payload id over all slices."""
    merged: Ids = {}
    for ids in slices:
        for value, points in ids.items():
            merged.setdefault(value, []).extend(points)
    return merged


def duplicate_id_findings(ids: Ids) -> list[Finding]:
    """``payload.duplicate_id``: every point of each group; the details name the others.

    Numbers that each page counts for itself are places, not ids: nothing is said of them.
    """
    groups = {value: points for value, points in ids.items() if len(points) > 1}
    if not groups or _are_numbered_by_page(ids):
        return []
    subjects = []
    for value, points in groups.items():
        names = sorted(ref.point_id for ref, _ in points)
        for ref, _ in points:
            others = [name for name in names[: _SHOWN + 1] if name != ref.point_id][:_SHOWN]
            subjects.append(ref.subject(value=value, others=others))
    return [make_finding("payload.duplicate_id", subjects, details={"groups": len(groups)})]


def _are_numbered_by_page(ids: Ids) -> bool:
    points = [(value, index) for value, entries in ids.items() for _, index in entries]
    local = sum(value.isdecimal() and index is not None and int(value) - index in {0, 1} for value, index in points)
    if local > _NUMBERED * len(points):
        return True
    # Without chunk indices: small numbers, of which no page holds one twice.
    if not all(value.isdecimal() for value in ids):
        return False
    on_page = Counter((value, ref.page_key) for value, entries in ids.items() for ref, _ in entries)
    shared = sum(len(entries) > 1 for entries in ids.values())
    return max(on_page.values()) == 1 and shared > _NUMBERED * len(ids)


def collect_rule_breaks(rows: Iterable[Mapping[str, Any]], rule: str) -> list[Subject]:
    """Points whose id is not what the rule gives; lists of slices concatenate.

    Args:
        rows: Snapshot rows with ``COLUMNS``.
        rule: What the id is the MD5 of, with ``source_url``, ``chunk_index`` and ``chunk_id`` in braces; seed 003:
            ``{source_url}_{chunk_index}``. Dashes are ignored: Qdrant gives 32 hexadecimal digits back as a UUID.
            Points that lack URL or index cannot be judged.
    """
    subjects = []
    for row in rows:
        if row["source_url"] is None or row["chunk_index"] is None:
            continue
        source = rule.format(source_url=row["source_url"], chunk_index=row["chunk_index"], chunk_id=row["chunk_id"])
        expected = hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()
        if row["point_id"].replace("-", "").lower() != expected:
            subjects.append(point_ref(row).subject(expected=expected, made_of=source))
    return subjects


def id_rule_findings(subjects: Iterable[Subject], rule: str) -> list[Finding]:
    """``payload.id_rule``."""
    named = list(subjects)
    return [make_finding("payload.id_rule", named, details={"rule": f"MD5 of {rule}"})] if named else []
