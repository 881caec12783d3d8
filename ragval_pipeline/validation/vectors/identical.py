"""Points that hold the same vector although their texts differ.

What lives here: telling copied vectors from texts that really have the same vector. What does not: finding equal
vectors (``stored``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ragval_pipeline.validation.vectors.pairs import Pairs

#: Snapshot columns of the groups' points.
COLUMNS = ("point_id", "text", "text_sha256")
_WORDS = re.compile(r"\w+")


def copied_vectors(
    groups: Iterable[Sequence[str]], rows: Mapping[str, Mapping[str, Any]], pairs: Pairs, *, leave_out: Collection[str]
) -> list[list[str]]:
    """Groups of points with one vector and several texts, at least one of which does not have that vector.

    Static models give one vector to texts that differ in the order of words, and every model to texts that differ
    beyond what it reads: where each text of a group was re-embedded and has that vector, nothing was copied.

    Args:
        groups: Points that hold the same vector.
        rows: Text and hash of these points.
        pairs: Compared points.
        leave_out: Points whose vector belongs to another text, and meets the right one of that text's twin, and points
            whose text was changed.

    Returns:
        The groups, each sorted.
    """
    cosines, noise = pairs.cosines(), pairs.noise
    found = []
    for group in groups:
        members = [name for name in group if name in rows and name not in leave_out]
        if len({rows[name]["text_sha256"] for name in members} - {None}) < 2:
            continue
        if all(name in cosines for name in members):
            explained = all(cosines[name] >= 1 - noise for name in members)
        else:
            explained = len({_same_words(rows[name]["text"]) for name in members}) == 1
        if not explained:
            found.append(sorted(members))
    return found


def _same_words(text: str | None) -> tuple[str, ...]:
    """What is left of a text that every model may read alike: its words, whatever their case and order."""
    return tuple(sorted(_WORDS.findall((text or "").casefold())))
