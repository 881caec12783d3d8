"""How stored vectors match their texts, as an earlier run found it of the same texts, vectors and model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np, pa, pq
from ragval_pipeline.sources.arrow import array_from, numbers_of
from ragval_pipeline.sources.kept.encoding import DIGEST, digest_of
from ragval_pipeline.sources.kept.evidence import Earlier, KeysManifest, with_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Keys = NDArray[np.uint64]

#: The file in ``evidence/kept/``.
MATCHES = "matches.parquet"
_COLUMNS = ("first", "second", "cosine", "norm")


class Matches:
    """Cosine and norm by the content that they are computed from; what is computed now is left for a later run.

    Args:
        earlier: An earlier run; None: nothing is known.
        identity: What else the vector of a text depends on: the model and how the collection stores numbers.
    """

    def __init__(self, earlier: Earlier | None, *identity: str) -> None:
        self._identity = digest_of(*(part.encode() for part in identity))
        self._left: list[tuple[Keys, Floats, Floats]] = []
        self._keys: Keys = np.empty((0, 2), np.uint64)
        self._cosine: Floats = np.empty(0, np.float32)
        self._norm: Floats = np.empty(0, np.float32)
        folder = earlier.bring("kept") if earlier is not None else None
        if folder is not None and (folder / MATCHES).exists():
            with (folder / MATCHES).open("rb") as file:
                held = pq.ParquetFile(file).read()
            first, second, cosine, norm = (numbers_of(held.column(name).combine_chunks()) for name in _COLUMNS)
            order = np.argsort(first, kind="stable")
            self._keys = np.column_stack([first, second])[order]
            self._cosine, self._norm = cosine[order], norm[order]

    def keys(self, texts: Sequence[str], vectors: Floats) -> Keys:
        """A key for each text with its vector: uint64 array of shape (number of texts, 2)."""
        # Texts come from JSON, which may hold half of a pair of surrogates.
        data = b"".join(
            hashlib.blake2b(
                b"".join((self._identity, vector.data, text.encode("utf-8", "surrogatepass"))), digest_size=DIGEST
            ).digest()
            for text, vector in zip(texts, np.ascontiguousarray(vectors), strict=True)
        )
        return np.frombuffer(data, np.uint64).reshape(-1, 2)

    def found(self, keys: Keys) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Whether each key is known, its cosine and its norm; these are arbitrary for those that are not."""
        if not len(self._keys) or not len(keys):
            empty = np.zeros(len(keys), np.float32)
            return np.zeros(len(keys), np.bool_), empty, empty.copy()
        places = np.minimum(np.searchsorted(self._keys[:, 0], keys[:, 0]), len(self._keys) - 1)
        return (self._keys[places] == keys).all(axis=1), self._cosine[places], self._norm[places]

    def leave(self, keys: Keys, cosine: Floats, norm: Floats) -> None:
        """Leave some for a later run."""
        self._left.append((keys, cosine, norm))

    def forget(self) -> None:
        """Know nothing, and leave nothing so far."""
        self._left.clear()
        self._keys = self._keys[:0]

    def write(self, kept: KeysManifest) -> KeysManifest:
        """Write what is left beside the rest that a run keeps for later ones.

        Returns:
            What the run keeps now.

        Raises:
            OSError: It cannot be written.
        """
        if not self._left:
            return kept
        keys, cosine, norm = (np.concatenate(parts) for parts in zip(*self._left, strict=True))
        columns = (keys[:, 0], keys[:, 1], cosine, norm)
        table = pa.table([array_from(np.ascontiguousarray(column)) for column in columns], names=list(_COLUMNS))
        folder = kept.folder()
        with (folder / MATCHES).open("wb") as file:
            pq.write_table(table, file, compression="none", use_dictionary=False, write_statistics=False)
        return with_file(kept, MATCHES, rows=len(table))
