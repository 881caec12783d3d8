"""Stored vectors beside those of their re-embedded texts.

What lives here: the comparison of one slice, in partial results that merge. What does not: what a low cosine means
(``swapped``, ``populations``), and reading or embedding (``walk``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.snapshot.embedded import embedded_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Cosine from which a stored vector counts as its text's own (criterion ``embedding_match``).
MATCH = 0.99
#: Distance of a cosine from 1 below which two vectors are the same but for rounding.
ROUNDING = 1e-4
#: Pairs of vectors that are kept for what comes after: those that differ, up to so many bytes.
KEPT_BYTES = 256 * 2**20
#: Texts that others are compared with, chosen by the hash of their point's id.
REFERENCES = 512
#: Hashes that ingestions write, by the length of their hexadecimal form.
_HASHES = {32: "md5", 40: "sha1", 64: "sha256"}


@dataclass(eq=False)
class Compared:
    """Sampled points: the cosine of each, and both vectors of those that differ.

    Args:
        ids: The sampled points, in the order in which they were read.
        cosine: Between stored and re-embedded vector, one a point; NaN where one of them has no direction.
        chars: Characters of the text.
        hash_holds: Whether the stored text hash is the text's; null when there is none that can be checked.
        kept: The points of ``stored`` and ``again``.
        stored: Unit vectors as stored, in blocks of rows.
        again: Unit vectors of the re-embedded texts, rows as in ``stored``.
        dropped: Points that differ and were not kept, because ``KEPT_BYTES`` were reached.
    """

    ids: list[str] = field(default_factory=list)
    cosine: list[float] = field(default_factory=list)
    chars: list[int] = field(default_factory=list)
    hash_holds: list[bool | None] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    stored: list[Floats] = field(default_factory=list)
    again: list[Floats] = field(default_factory=list)
    dropped: int = 0

    def add(
        self, ids: Sequence[str], stored: Floats, again: Floats, rows: Sequence[Mapping[str, Any]], *, stride: int
    ) -> None:
        """Take in some points.

        Args:
            ids: The points.
            stored: Their unit vectors, shape (n, dimension); rows of zeros where there is no direction.
            again: Vectors of their re-embedded texts, of the same shape and any length.
            rows: Their ``text``, ``embedded_text``, ``text_hash`` and ``text_sha256``.
            stride: Every so many points, by the hash of the id, is kept as a reference although it matches.
        """
        import numpy as np

        norms = np.linalg.norm(again, axis=1, keepdims=True)
        unit = np.divide(again, norms, out=np.zeros_like(again), where=norms > 0)
        cosine = np.einsum("ij,ij->i", stored, unit)
        cosine[(norms[:, 0] == 0) | ~stored.any(axis=1)] = np.nan
        self.ids.extend(ids)
        self.cosine.extend(cosine.tolist())
        self.chars.extend(len(embedded_text(row)) for row in rows)
        self.hash_holds.extend(hash_holds(row) for row in rows)
        reference = np.array([id_hash(name) % stride == 0 for name in ids])
        self._keep(ids, stored, unit, np.isfinite(cosine) & ((cosine < 1 - ROUNDING) | reference))

    def _keep(self, ids: Sequence[str], stored: Floats, again: Floats, wanted: NDArray[np.bool_]) -> None:
        import numpy as np

        room = KEPT_BYTES // (8 * max(stored.shape[1], 1)) - len(self.kept)
        places = np.flatnonzero(wanted)
        self.dropped += max(0, len(places) - room)
        places = places[: max(room, 0)]
        if len(places):
            self.kept.extend(ids[place] for place in places.tolist())
            self.stored.append(stored[places])
            self.again.append(again[places])

    def merged(self, other: Compared) -> Compared:
        """The points of both slices."""
        return Compared(
            ids=self.ids + other.ids,
            cosine=self.cosine + other.cosine,
            chars=self.chars + other.chars,
            hash_holds=self.hash_holds + other.hash_holds,
            kept=self.kept + other.kept,
            stored=self.stored + other.stored,
            again=self.again + other.again,
            dropped=self.dropped + other.dropped,
        )


def hash_holds(row: Mapping[str, Any]) -> bool | None:
    """Whether a stored hash is the MD5, SHA-1 or SHA-256 of the stored text; null when it is none of these."""
    stored = (row.get("text_hash") or "").strip().lower()
    name = _HASHES.get(len(stored))
    if name is None or row["text"] is None:
        return None
    if name == "sha256":
        return bool(stored == row["text_sha256"])
    return hashlib.new(name, row["text"].encode("utf-8"), usedforsecurity=False).hexdigest() == stored


def id_hash(name: str) -> int:
    """A number that depends on the point's id alone, and looks drawn."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
