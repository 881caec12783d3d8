"""Adding points to a corpus: copies of points that it has."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from ragval_pipeline.testing.defects.corpus import Corpus, StoredPoint


def add_copies(corpus: Corpus, points: Iterable[StoredPoint], *, salt: str, **changes: Any) -> list[StoredPoint]:
    """Add a copy of each point under a new id.

    Args:
        corpus: The corpus.
        points: What to copy.
        salt: Makes the new ids, together with the old ones: the same salt gives the same ids.
        changes: Payload values of the copies, by canonical name; fields that no point holds are left out.
    """
    copies = []
    held = {name: value for name, value in changes.items() if corpus.holds(name)}
    for point in points:
        new_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{salt} {point.id}"))
        copy = StoredPoint(new_id, deepcopy(point.payload), point.vector)
        for name, value in held.items():
            corpus.put(copy, name, value)
        copies.append(copy)
    corpus.points.extend(copies)
    return copies
