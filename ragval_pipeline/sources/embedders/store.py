"""Vectors kept between runs, so that an unchanged text is not embedded, or paid for, again.

A folder of Parquet files: each writer adds one, and many are merged into one. Files appear atomically, and unreadable
ones are ignored: a cache may lose content, but never fails a run.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ragval_pipeline.lazy import np, pa, pq
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.storage import Filled, write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from upath import UPath

    Vector = NDArray[np.float32]

_log = logging.getLogger(__name__)

#: Days after which a vector is requested again: providers change the model behind a name.
DAYS_KEPT = 30
#: Maximum vectors, the newest are kept: 50,000 of 1024 dimensions are 200 MB.
MOST_VECTORS = 50_000
#: Cosine of two vectors of the same text below which the model behind the name has changed.
SAME_MODEL = 0.99
#: Number of files above which they are merged.
_MOST_FILES = 12
_DAY_S = 86_400


class VectorStore(MutableMapping[str, "Vector"]):
    """Vectors by ``cache_key``: those of earlier runs, and new ones, which ``save`` adds.

    A changed vector for a text shows that the provider changed the model: then no stored vector is used any more, since
    queries of one model find nothing among documents of another.

    Args:
        folder: Of the cache, local or remote; created on first save.

    Attributes:
        own_only: Whether vectors of earlier runs are hidden.
    """

    def __init__(self, folder: UPath) -> None:
        self.own_only = False
        self._folder = folder
        self._today = int(time.time() // _DAY_S)
        self._known: dict[str, Vector] | None = None
        self._own: dict[str, Vector] = {}
        self._outdated: list[UPath] = []

    def __getitem__(self, key: str) -> Vector:
        return self._own[key] if self.own_only or key in self._own else self._loaded()[key]

    def __setitem__(self, key: str, vector: Vector) -> None:
        kept = self._loaded().get(key)
        if kept is not None and not _alike(kept, vector):
            _log.warning("%s: the model returns new vectors; stored vectors are not used", self._folder)
            self._known, self._outdated = {}, self._files()
        self._own[key] = vector

    def __delitem__(self, key: str) -> None:
        """Drop a vector from memory, not from the folder."""
        if self._own.pop(key, None) is None:
            del self._loaded()[key]

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self._loaded(), *self._own])

    def __len__(self) -> int:
        return len(self._loaded().keys() | self._own.keys())

    def save(self) -> None:
        """Add what is new to the folder."""
        if not self._own:
            return
        try:
            for file in self._outdated:
                file.unlink(missing_ok=True)
            self._outdated = []
            files = self._files()
            rows = [(key, self._today, vector) for key, vector in self._own.items()]
            if len(files) >= _MOST_FILES:
                older = {key: (day, vector) for file in files for key, day, vector in self._rows(file)}
                unseen = [(key, *entry) for key, entry in older.items() if key not in self._own]
                rows = sorted([*unseen, *rows], key=lambda row: row[1])[-MOST_VECTORS:]
            self._write(rows)
            for file in files if len(files) >= _MOST_FILES else ():
                file.unlink(missing_ok=True)
            self._known, self._own = {**self._loaded(), **self._own}, {}
        except OSError as error:
            _log.warning("%s cannot be written: %s; texts will be embedded again", self._folder, type(error).__name__)

    def _loaded(self) -> dict[str, Vector]:
        if self._known is None:
            found = {key: vector for file in self._files() for key, _, vector in self._rows(file)}
            self._known = dict(list(found.items())[-MOST_VECTORS:])
        return self._known

    def _files(self) -> list[UPath]:
        try:
            return sorted(self._folder.glob("*.parquet"), key=lambda file: file.name)
        except OSError:
            return []

    def _rows(self, file: UPath) -> Iterator[tuple[str, int, Vector]]:
        """Key, day and vector of a file's rows that are not too old."""
        try:
            with file.open("rb") as opened:
                table = pq.read_table(opened)
            columns = [table[name].to_pylist() for name in ("key", "day", "vector")]
        except (OSError, KeyError, pa.ArrowException) as error:
            _log.warning("%s is left out: %s", file, type(error).__name__)
            return
        for key, day, vector in zip(*columns, strict=True):
            if self._today - day < DAYS_KEPT:
                yield key, day, np.frombuffer(vector, dtype="<f4")

    def _write(self, rows: list[tuple[str, int, Vector]]) -> None:
        table = pa.table(
            {
                "key": array_of([key for key, _, _ in rows], pa.string()),
                "day": array_of([day for _, day, _ in rows], pa.int32()),
                "vector": array_of([vector.astype("<f4").tobytes() for _, _, vector in rows], pa.binary()),
            }
        )
        # Sorted by name, the latest comes last and wins.
        name = f"{time.time_ns():020d}-{uuid4().hex[:8]}.parquet"
        write_whole(
            self._folder / name,
            Filled(lambda file: pq.write_table(table, file, compression="zstd", use_dictionary=False)),
        )


def _alike(one: Vector, other: Vector) -> bool:
    if one.shape != other.shape:
        return False
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) >= SAME_MODEL * lengths


def store_at(base: UPath, *, provider: str, base_url: str | None, kind: str = "embeddings") -> VectorStore:
    """The store of a suite's embedder, or of another ``kind`` of model.

    Another ``base_url`` is another store: servers may use a name for different models.
    """
    place: Any = json.dumps([provider, base_url])
    return VectorStore(base / ".cache" / kind / hashlib.sha256(place.encode()).hexdigest()[:16])
