"""The same text under several points.

What lives here: ``chunk.duplicate_text``, from partial results that merge. What does not: nearly the same text
(``near_duplicate``), and the same place on the page (``order``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.text.words import fold_blanks
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref

#: Snapshot columns that ``collect_texts`` needs.
COLUMNS = (*REF_COLUMNS, "text")

#: Points by the digest of their text, blanks and zero-width characters folded.
Texts = dict[bytes, list[PointRef]]
_SHOWN = 20


def collect_texts(rows: Iterable[Mapping[str, Any]]) -> Texts:
    """Points by text; texts without a letter or digit are no texts."""
    texts: Texts = {}
    for row in rows:
        folded = fold_blanks(row["text"] or "")
        if any(char.isalnum() for char in folded):
            digest = hashlib.blake2b(folded.encode(), digest_size=16).digest()
            texts.setdefault(digest, []).append(point_ref(row))
    return texts


def merge_texts(slices: Iterable[Texts]) -> Texts:
    """Points by text over all slices."""
    merged: Texts = {}
    for texts in slices:
        for digest, refs in texts.items():
            merged.setdefault(digest, []).extend(refs)
    return merged


def duplicate_text_findings(texts: Texts) -> list[Finding]:
    """``chunk.duplicate_text``: every point of each group; the details name the others."""
    groups = [sorted(refs) for refs in texts.values() if len(refs) > 1]
    if not groups:
        return []
    subjects = []
    for group in groups:
        ids = [ref.point_id for ref in group]
        for ref in group:
            others = [other for other in ids[: _SHOWN + 1] if other != ref.point_id][:_SHOWN]
            subjects.append(ref.subject(others=others, copies=len(ids)))
    held = "the same text" if len(groups) == 1 else f"{len(groups)} texts: each text stands in several points"
    message = f"{len(subjects)} points hold {held}."
    details = {"groups": len(groups), "superfluous": len(subjects) - len(groups)}
    return [make_finding("chunk.duplicate_text", subjects, details=details, message=message)]
