"""Whether a collection still holds what a run has read: the payload and the vector of every point.

The first read leaves a print of each point, in id order. A later read is merged with these prints page by page, so that
memory stays flat. Payloads are compared by the fields that the run reads, and vectors up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.prints import (
    PAYLOADS,
    VECTORS,
    Print,
    payload_prints,
    read_prints,
    same_vector,
    vector_prints,
)
from ragval_pipeline.sources.stores.qdrant.change import same_settings
from ragval_pipeline.sources.stores.qdrant.names import id_order
from ragval_pipeline.sources.stores.qdrant.protocol import Reader
from ragval_pipeline.sources.stores.qdrant.scanning import IdOrder

#: The id of a point, the print of its payload or vector, and its source URL, empty if it has none.
Found = tuple[str, bytes, str]


@dataclass(frozen=True)
class Differences:
    """What differs between a collection and what a run has read of it.

    Attributes:
        read: Points that the run has read.
        now: Points that the collection holds now.
        gone: Ids of points that were read and are there no more, in id order.
        come: Ids of points that are new.
        changed: Ids of points with another payload or another vector.
        collection: The collection itself, even if an alias was given.
        moved: Whether an alias now points to another collection than it did.
        settings: Whether the vectors or other settings of the collection are other ones.
        vectors: Whether vectors were compared; false if the run did not read them.
        addresses: Source URLs of the points that are new, or have another payload, as stored now.
    """

    read: int
    now: int
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    collection: str = ""
    moved: bool = False
    settings: bool = False
    vectors: bool = True
    addresses: frozenset[str] = frozenset()

    @classmethod
    def none(cls, manifest: SnapshotManifest, *, vectors: bool) -> Differences:
        """Those of a collection that nobody can change: none."""
        return cls(read=manifest.points, now=manifest.points, collection=manifest.facts.name, vectors=vectors)

    @property
    def points(self) -> tuple[str, ...]:
        """All points that came, went or changed, in id order."""
        return tuple(sorted({*self.gone, *self.come, *self.changed}, key=id_order))

    @property
    def has_changed(self) -> bool:
        """Whether anything differs."""
        return bool(self.gone or self.come or self.changed or self.moved or self.settings)


def compare_points(reader: Reader, manifest: SnapshotManifest) -> Differences:
    """Compare every point of a collection with what a run has read of it.

    Reads all payloads and, if the run has read them, all vectors.

    Args:
        reader: An open reader of the same collection or alias, with the same filter.
        manifest: What the run has read.

    Raises:
        SystemFailure: ``index.collection_missing`` or ``index.unreachable``.
        FileNotFoundError: The prints of the run are gone.
    """
    if manifest.prints is None:
        raise FileNotFoundError(f"run {manifest.run_id} left no prints of its points: take a new snapshot")
    facts, folder = reader.facts(), manifest.prints.folder()
    names = {part.name for part in manifest.prints.parts}
    now, path = 0, manifest.fields.get("source_url")

    def payloads() -> Iterator[Found]:
        nonlocal now
        order = IdOrder(reader.place, max(manifest.points, manifest.count_after))
        for page in reader.scan(manifest.read, manifest.way, points=manifest.points):
            points = order.new(page)
            now += len(points)
            for (name, shown), point in zip(payload_prints(points), points, strict=True):
                address = None if path is None else lookup(point.payload, path)[1]
                yield name, shown, address if isinstance(address, str) else ""
        order.check()

    gone, come, changed = _compared(read_prints(folder / PAYLOADS), payloads(), lambda one, other: one == other)
    addresses = frozenset(filter(None, (*come.values(), *changed.values())))
    others: set[str] = set()
    if VECTORS in names:
        vectors = ((*found, "") for batch in reader.vectors() for found in vector_prints(batch))
        lost, found, other = _compared(read_prints(folder / VECTORS), vectors, same_vector)
        # A point that came or went while the vectors were read, and is back, is another one.
        others = {*other, *((lost | found.keys()) - gone - come.keys())}
    return Differences(
        read=manifest.points,
        now=now,
        gone=_in_order(gone),
        come=_in_order(come),
        changed=_in_order({*changed, *others}),
        collection=facts.name,
        moved=facts.name != manifest.facts.name,
        settings=not same_settings(facts, manifest.facts),
        vectors=VECTORS in names,
        addresses=addresses,
    )


def _compared(
    then: Iterator[Print], now: Iterator[Found], same: Callable[[bytes, bytes], bool]
) -> tuple[set[str], dict[str, str], dict[str, str]]:
    """Points only in the first stream, only in the second, and in both with another print; new ones with their URL."""
    gone: set[str] = set()
    come: dict[str, str] = {}
    changed: dict[str, str] = {}
    left, right = next(then, None), next(now, None)
    while left is not None or right is not None:
        if left is not None and right is not None and left[0] == right[0]:
            if not same(left[1], right[1]):
                changed[right[0]] = right[2]
            left, right = next(then, None), next(now, None)
        elif right is None or (left is not None and id_order(left[0]) < id_order(right[0])):
            assert left is not None
            gone.add(left[0])
            left = next(then, None)
        else:
            come[right[0]] = right[2]
            right = next(now, None)
    return gone, come, changed


def _in_order(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=id_order))
