"""The one pass over all vectors: properties of each, and its cosine with the vector of its re-embedded text."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.memory import ScratchRows, give_back_memory
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.groups import groups_of_pairs
from ragval_pipeline.validation.thresholds import FEW, MATCH, MOST, NOISE, ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.kept.matches import Matches
    from ragval_pipeline.sources.stores.qdrant.protocol import VectorBatch

    Floats = NDArray[np.float32]
    Norms = NDArray[np.float64]
    Rows = NDArray[np.intp]

#: Snapshot columns read by the pass.
COLUMNS = ("point_id", "text", "embedded_text")
#: Embeds texts like the collection's ingestion.
Embed = Callable[[Sequence[str]], "Floats"]
#: Reads the vectors of some points, in order; deleted points are left out.
VectorsOf = Callable[[Sequence[str]], "Iterator[VectorBatch]"]
#: Number of random projections of a vector; vectors with equal projections on all of them are the same.
DIRECTIONS = 8  # work
#: Smallest norm of a vector with a direction.
TINY = 1e-12  # definition
#: Texts that represent the collection in trials and geometric comparisons.
REFERENCES = 512  # work
#: Maximum bytes of vectors of one kind kept after the pass.
KEPT_BYTES = 256 * 2**20  # work


def unit_rows(vectors: Floats) -> Floats:
    """Vectors scaled to length 1; zeros stay."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit


@dataclass
class Comparison:
    """The result of the pass.

    Attributes:
        points: Points read, with and without a vector.
        missing: Points without a vector under the name that searches use.
        other: Points whose vector is not a single list of numbers.
        zero: Points whose vector has no direction: all zeros, or not finite.
        endless: Those of them with numbers that are not finite.
        ids: Points with a direction, in order of ``prints``.
        prints: Projections of their unit vectors, blocks of shape (n, ``DIRECTIONS``).
        lengths: Blocks of the norms of ``ids``.
        sampled: Points whose text was re-embedded, in reading order.
        cosine: Blocks of the cosines of ``sampled``; NaN if one of the two vectors has no direction.
        norms: Blocks of the norms of the re-embedded texts of ``sampled``.
        texts: Unit vectors of the re-embedded texts; only of the first ``sampled`` if there are too many, and without
            order if some were not embedded again.
        stored_at: Blocks of indices into ``sampled``: the points that do not match, or only nearly, and references.
        stored: Their stored unit vectors.
        stride: Distance of reference points, whose vectors are always kept.
        reused: Points of ``sampled`` whose cosine is an earlier run's.
        stale: Whether an earlier run's cosine is another one now.
        failure: Why re-embedding ended early, if it did; data about the stored vectors alone is still complete.
    """

    points: int = 0
    missing: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    zero: list[str] = field(default_factory=list)
    endless: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    prints: list[Floats] = field(default_factory=list)
    lengths: list[Floats] = field(default_factory=list)
    sampled: list[str] = field(default_factory=list)
    cosine: list[Floats] = field(default_factory=list)
    norms: list[Floats] = field(default_factory=list)
    texts: ScratchRows = field(default_factory=ScratchRows)
    stored_at: list[Rows] = field(default_factory=list)
    stored: ScratchRows = field(default_factory=ScratchRows)
    stride: int = 1
    reused: int = 0
    stale: bool = False
    failure: SystemFailure | NotMeasurableError | None = None

    def add(self, batch: VectorBatch) -> Floats:
        """Add the stored vectors of a batch.

        Returns:
            Their unit vectors, rows as ``batch.ids``; zeros without a direction.
        """
        self.points += len(batch.ids) + len(batch.missing) + len(batch.other)
        self.missing.extend(batch.missing)
        self.other.extend(batch.other)
        if not batch.ids:
            return batch.matrix
        norms: Norms = np.sqrt(np.einsum("ij,ij->i", batch.matrix, batch.matrix, dtype=np.float64))
        usable = np.isfinite(norms) & (norms > TINY)
        unit: Floats = np.divide(batch.matrix, np.where(usable, norms, 1.0)[:, None], dtype=np.float32)
        unit[~usable] = 0.0
        self.zero.extend(compress(batch.ids, ~usable))
        self.endless.extend(compress(batch.ids, ~np.isfinite(norms)))
        self.ids.extend(compress(batch.ids, usable))
        self.lengths.append(norms[usable].astype(np.float32))
        self.prints.append(unit[usable] @ _directions(unit.shape[1]))
        return unit

    def compare(self, names: Sequence[str], stored: Floats, again: _Embedded, *, stride: int) -> None:
        """Add some sampled points.

        ``stored`` are unit vectors, shape (n, dimension), zeros without a direction. Of every ``stride``-th point the
        stored vector is kept although it matches.
        """
        self.stride = stride
        first, room = len(self.sampled), KEPT_BYTES // (2 * max(stored.shape[1], 1)) - len(self.sampled)
        places = np.arange(first, first + len(names))
        self.sampled.extend(names)
        self.cosine.append(again.cosine)
        self.norms.append(again.norm)
        self.reused += len(names) - len(again.unit)
        if room > 0:
            cosine = again.cosine
            wanted = np.flatnonzero((cosine < 1 - ROUNDING) | ((places % stride == 0) & np.isfinite(cosine)))
            wanted = wanted[wanted < room]
            self.texts.add(again.unit[:room].astype(np.float16))
            self.stored_at.append(places[wanted])
            self.stored.add(stored[wanted].astype(np.float16))


class _Embedded(NamedTuple):
    """Texts beside their stored vectors.

    Attributes:
        cosine: Of each vector with that of its text; NaN if one of them has no direction.
        norm: Of the vector of each text.
        unit: Unit vectors of those that were embedded now.
    """

    cosine: Floats
    norm: Floats
    unit: Floats


def _embedded(stored: Floats, again: Floats) -> _Embedded:
    """The vectors of texts beside unit vectors, of the same shape."""
    unit = unit_rows(again)
    cosine = np.einsum("ij,ij->i", stored, unit)
    cosine[~unit.any(axis=1) | ~stored.any(axis=1)] = np.nan
    return _Embedded(cosine, np.linalg.norm(again, axis=1).astype(np.float32), unit)


def compare_vectors(
    snapshot: Iterable[pa.RecordBatch],
    vectors_of: VectorsOf,
    *,
    embed: Embed | None,
    sample: Collection[str] | None,
    points: int,
    matches: Matches | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Comparison:
    """Read every vector once.

    Args:
        snapshot: The snapshot's points, with ``COLUMNS``.
        vectors_of: Reads the vectors of points.
        embed: Embeds texts as documents; None: nothing is re-embedded.
        sample: Points to re-embed; None: all with a text.
        points: Number of points, for progress.
        matches: How vectors matched their texts in an earlier run: what is known is not embedded again, except the
            references. None: every text is embedded, and nothing is left for a later run.
        on_progress: Called with points done and in total.

    Raises:
        SystemFailure: Qdrant fails. A failing embedder is kept as ``failure`` instead.
    """
    comparison = Comparison()
    stride = max(1, (points if sample is None else len(sample)) // REFERENCES)
    again = _Again(embed, sample, stride, matches) if embed is not None else None
    for batch, rows in _with_rows(snapshot, vectors_of):
        unit = comparison.add(batch)
        if again is not None and comparison.failure is None:
            try:
                again.compare(comparison, batch, unit, rows)
            except (SystemFailure, NotMeasurableError) as failure:
                comparison.failure = failure
        if on_progress:
            on_progress(comparison.points, max(points, comparison.points))
    return comparison


def _with_rows(snapshot: Iterable[pa.RecordBatch], vectors_of: VectorsOf) -> Iterator[tuple[VectorBatch, pa.Table]]:
    """The vectors of the snapshot's points, each batch with its rows in order."""
    for rows in snapshot:
        ids = rows.column("point_id").to_pylist()
        place = {name: number for number, name in enumerate(ids)}
        for batch in vectors_of(ids):
            there = array_of([place[name] for name in (*batch.ids, *batch.missing)], pa.int64())
            yield batch, pa.Table.from_batches([rows]).take(there)
        give_back_memory()


@dataclass(frozen=True)
class _Again:
    """Re-embeds the sampled texts of a batch."""

    embed: Embed
    sample: Collection[str] | None
    stride: int
    matches: Matches | None

    def compare(self, found: Comparison, batch: VectorBatch, unit: Floats, rows: pa.Table) -> None:
        embedded = pc.coalesce(rows.column("embedded_text"), rows.column("text")).to_pylist()
        texts = {
            name: text
            for name, text in zip(rows.column("point_id").to_pylist(), embedded, strict=True)
            if text is not None and (self.sample is None or name in self.sample) and not is_blank(text)
        }
        if not texts:
            return
        names, stored = tuple(texts), unit
        if not batch.ids:
            again = self.embed(list(texts.values()))
            stored = np.zeros_like(again)
            found.compare(names, stored, _embedded(stored, again), stride=self.stride)
            return
        if names == batch.ids:
            names = batch.ids  # share the ids
        else:
            place = {name: number for number, name in enumerate(batch.ids)}
            positions = np.array([place.get(name, -1) for name in names])
            # A point without a vector counts as one without a direction.
            stored = np.zeros((len(names), unit.shape[1]), dtype=np.float32)
            stored[positions >= 0] = unit[positions[positions >= 0]]
        found.compare(names, stored, self._embedded(found, [*texts.values()], stored), stride=self.stride)

    def _embedded(self, found: Comparison, texts: Sequence[str], stored: Floats) -> _Embedded:
        matches = self.matches
        if matches is None:
            return _embedded(stored, self.embed(texts))
        keys = matches.keys(texts, stored)
        is_known, cosine, norm = matches.found(keys)
        is_reference = np.arange(len(found.sampled), len(found.sampled) + len(texts)) % self.stride == 0
        anew = np.flatnonzero(~is_known | is_reference)
        rest = self.embed([texts[number] for number in anew.tolist()]) if len(anew) else stored[anew]
        again = _embedded(stored[anew], rest)
        was_known = is_known[anew]
        for known, now in ((cosine[anew], again.cosine), (norm[anew], again.norm)):
            found.stale |= not np.array_equal(known[was_known], now[was_known], equal_nan=True)
        cosine[anew], norm[anew] = again.cosine, again.norm
        matches.leave(keys, cosine, norm)
        return _Embedded(cosine, norm, again.unit)


def same_vectors(found: Comparison) -> list[list[str]]:
    """Groups of at least two points with the same vector: neighbours in order of their first projection.

    In a million vectors each has about twenty neighbours as close by chance in one projection; the others decide.
    """
    if not found.prints:
        return []
    prints = np.concatenate(found.prints)
    order = np.argsort(prints[:, 0], kind="stable")
    prints, left, shift = prints[order], np.arange(len(prints)), 0
    pairs: list[tuple[int, int]] = []
    while len(left):
        shift += 1
        left = left[left + shift < len(prints)]
        left = left[prints[left + shift, 0] - prints[left, 0] <= ROUNDING]
        same = left
        for projection in range(1, DIRECTIONS):  # one by one: hardly any pair is left after the first
            same = same[np.abs(prints[same + shift, projection] - prints[same, projection]) <= ROUNDING]
        pairs += zip(same.tolist(), (same + shift).tolist(), strict=True)
        # A point equal to this neighbour is linked through it with all that follow.
        left = np.setdiff1d(left, same, assume_unique=True)
    return [[found.ids[order[place]] for place in group] for group in groups_of_pairs(pairs)]


@dataclass(frozen=True)
class OddLengths:
    """Vectors of another length than the rest.

    Attributes:
        of_unit: Whether most vectors have length 1.
        odd: Norms of those that do not, and the norm that each should have. If most do not, of those that are longer
            or shorter than the vectors of their texts, unlike most.
    """

    of_unit: bool = True
    odd: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def odd_lengths(found: Comparison) -> OddLengths:
    """Vectors of another length than the rest, among those with a direction."""
    if not found.lengths:
        return OddLengths()
    norms = np.concatenate(found.lengths)
    off = np.flatnonzero(np.abs(norms - 1) > NOISE).tolist()
    if len(off) <= MOST * len(norms):
        return OddLengths(odd={found.ids[place]: (round(float(norms[place]), 4), 1.0) for place in off})
    stored = dict(zip(found.ids, norms.tolist(), strict=True))
    compared = zip(found.sampled, _flat(found.cosine), _flat(found.norms), strict=True)
    # The vector of another text has another length anyway.
    again = {name: norm for name, cosine, norm in compared if cosine >= MATCH}
    scales = {name: stored[name] / norm for name, norm in again.items()}
    # An index may hold all vectors scaled alike. If as many are as the embedder gives them, these are right.
    usual = (1.0, statistics.median(scales.values())) if scales else ()
    far = {way: [name for name, scale in scales.items() if abs(scale / way - 1) > FEW] for way in usual}
    way = min(far, key=lambda way: len(far[way]), default=1.0)
    names = far[way] if scales and len(far[way]) <= MOST * len(scales) else ()
    odd = {name: (round(stored[name], 4), round(way * again[name], 4)) for name in names}
    return OddLengths(of_unit=False, odd=odd)


def _flat(blocks: Iterable[Floats]) -> Iterator[float]:
    return chain.from_iterable(block.tolist() for block in blocks)


def _directions(dimension: int) -> Floats:
    """Unit directions, the same in every run, as columns."""
    drawn = np.random.default_rng(dimension).standard_normal((dimension, DIRECTIONS))
    directions: Floats = (drawn / np.linalg.norm(drawn, axis=0)).astype(np.float32)
    return directions
