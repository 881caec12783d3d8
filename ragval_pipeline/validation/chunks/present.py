"""Which chunks of a page that is stored more than once are its present version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median
from typing import NamedTuple

from ragval_pipeline.validation.chunks.habits import Habits
from ragval_pipeline.validation.facts.places import Place, united
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, PASSAGE_LETTERS

#: What a letter that the page does not have costs on a way through it, in letters of unusual overlap.
_MISSING = 1000  # work


def present_version(chunks: Sequence[ChunkFacts], drifted: Collection[str], habits: Habits) -> list[ChunkFacts] | None:
    """The chunks, numbered one after another, that are all of a page as it is there, as far as any chunk has it.

    Boundaries of an older version meet those of the present one by chance, and versions share their unchanged chunks:
    of several ways through the page the one is taken with the fewest letters that it does not have, and then the most
    usual overlaps of neighbours, if every other way differs from them by more than its own two neighbours of a chunk
    may. Text that no chunk has, such as headings that are kept elsewhere, may be missing.

    Args:
        chunks: The chunks of a page that are on it.
        drifted: Those with other words than it; they are of no present version.
        habits: What the ingestion adds to its chunks.

    Returns:
        None if there are no such chunks, another way is about as good, or nothing shows that the others are older: none
        of them differs more.
    """
    anchored = _anchored(chunks)
    if not anchored:
        return None
    older = {chunk.point_id for chunk in chunks if chunk.point_id in drifted or _leaves_out(chunk, anchored)}
    missing = {chunk.point_id: _missing(chunk, habits) for chunk in chunks}
    numbered: dict[int, list[_At]] = {}
    for chunk in sorted(chunks, key=lambda chunk: chunk.point_id):
        if chunk.chunk_index is not None and chunk.point_id not in older:
            numbered.setdefault(chunk.chunk_index, []).extend(_At(chunk, place) for place in _places(chunk))
    usual = median([letters for letters in _overlaps(numbered) if letters >= 0] or [0])
    best = _best(numbered, anchored, missing, usual)
    if best is None:
        return None
    present = best.chunks()
    names = {chunk.point_id for chunk in present}
    most = max(missing[name] for name in names)
    others = [chunk.point_id for chunk in chunks if chunk.point_id not in names]
    if not any(name in older or missing[name] > most for name in others):
        return None
    lost = best.lost(missing)
    # A chunk in place of another has other overlaps with two neighbours.
    chance = 2 * max((abs(letters - usual) for letters in best.overlaps()), default=0)
    for index, other in _instead(numbered, present):
        way = _best({**numbered, index: other}, anchored, missing, usual)
        if way is not None and way.cost - best.cost <= chance and way.lost(missing) <= lost:
            return None
    return present


def whole_version(versions: Sequence[list[ChunkFacts]], changed: Collection[str]) -> list[ChunkFacts] | None:
    """The only one of some versions of a page that is as the page, and has all of it that any of them has.

    Args:
        versions: The chunks of each.
        changed: Those with other words than the page.
    """
    held = _anchored(chain.from_iterable(versions))
    found = [
        own
        for own in versions
        if not any(chunk.point_id in changed for chunk in own) and not _has_gap(_anchored(own), held)
    ]
    return found[0] if len(found) == 1 else None


def latest_version(versions: Sequence[list[ChunkFacts]], drifted: Collection[str]) -> list[ChunkFacts] | None:
    """The ``whole_version`` of chunks without numbers, if each other one shows that the page was edited since.

    Args:
        versions: The chunks of each.
        drifted: Those with other words than the page.
    """
    if any(chunk.chunk_index is not None for own in versions for chunk in own):
        return None
    anchored = _anchored(chain.from_iterable(versions))
    changed = {
        chunk.point_id for own in versions for chunk in own if chunk.point_id in drifted or _leaves_out(chunk, anchored)
    }
    version = whole_version(versions, changed)
    others = (own for own in versions if own is not version)
    return version if all(any(chunk.point_id in changed for chunk in own) for own in others) else None


def _anchored(chunks: Iterable[ChunkFacts]) -> list[Place]:
    return united(span for chunk in chunks for span in chunk.spans if span[1] - span[0] >= ANCHOR_LETTERS)


def _has_gap(own: Sequence[Place], held: Iterable[Place]) -> bool:
    """Whether a passage of some parts of a page is in none of its own."""
    for begin, end in held:
        inside = [(begin, begin), *((first, last) for first, last in own if first < end and last > begin), (end, end)]
        if any(after[0] - before[1] >= PASSAGE_LETTERS for before, after in pairwise(inside)):
            return True
    return False


class _At(NamedTuple):
    """A chunk at one of the places where its page may have it."""

    chunk: ChunkFacts
    place: Place


@dataclass(frozen=True)
class _Way:
    """The best way through a page up to a chunk."""

    at: _At
    cost: float
    before: _Way | None = None

    def chunks(self) -> list[ChunkFacts]:
        """The chunks on it, in order."""
        return [at.chunk for at in self._steps()]

    def overlaps(self) -> Iterator[int]:
        """Letters that each two neighbours share."""
        return (max(one.place[1] - other.place[0], 0) for one, other in pairwise(self._steps()))

    def lost(self, missing: Mapping[str, int]) -> int:
        """Letters of its chunks that the page does not have."""
        return sum(missing[at.chunk.point_id] for at in self._steps())

    def _steps(self) -> list[_At]:
        found, way = [self.at], self.before
        while way is not None:
            found.append(way.at)
            way = way.before
        return found[::-1]


def _best(
    numbered: Mapping[int, Sequence[_At]], held: Sequence[Place], missing: Mapping[str, int], usual: float
) -> _Way | None:
    """The best way through the whole page; None if there is none."""
    found: dict[int, list[_Way]] = {}
    for index in sorted(numbered):
        for at in numbered[index]:
            (begin, end), own = at.place, _MISSING * missing[at.chunk.point_id]
            ways = [] if _is_held(held, 0, begin) else [_Way(at, own)]
            for way in found.get(index - 1, ()):
                first, beyond = way.at.place
                if first < begin and beyond < end and not _is_held(held, beyond, begin):
                    ways.append(_Way(at, way.cost + own + abs(max(beyond - begin, 0) - usual), way))
            if ways:
                found.setdefault(index, []).append(min(ways, key=lambda way: way.cost))
    ends = [way for ways in found.values() for way in ways if not _is_held(held, way.at.place[1], held[-1][1])]
    return min(ends, key=lambda way: way.cost, default=None)


def _instead(numbered: Mapping[int, Sequence[_At]], found: Sequence[ChunkFacts]) -> Iterator[tuple[int, list[_At]]]:
    """Number and places of each chunk that could stand for one of those found, and is not a copy of it."""
    for chunk in found:
        index = chunk.chunk_index
        assert index is not None
        for other in {at.chunk.point_id: at.chunk for at in numbered[index]}.values():
            if (other.stretch, other.letters) != (chunk.stretch, chunk.letters):
                yield index, [at for at in numbered[index] if at.chunk is other]


def _overlaps(numbered: Mapping[int, Sequence[_At]]) -> list[int]:
    """Letters that each chunk shares with each that has the number before its own."""
    return [
        one.place[1] - other.place[0]
        for index, chunks in numbered.items()
        for one in numbered.get(index - 1, ())
        for other in chunks
    ]


def _places(chunk: ChunkFacts) -> list[Place]:
    """Where a chunk may be on its page: a short one is there several times."""
    begin, end = chunk.stretch or (0, 0)
    first = chunk.longest_part[1] if chunk.longest_part else begin
    return [(begin, end), *((again + begin - first, again + end - first) for again in chunk.again)]


def _missing(chunk: ChunkFacts, habits: Habits) -> int:
    """Letters of a chunk that its page does not have, without what the ingestion adds."""
    return max(chunk.letters - chunk.found - sum(edge.missing for edge in habits.in_chunk(chunk)), 0)


def _leaves_out(chunk: ChunkFacts, held: Sequence[Place]) -> bool:
    """Whether other chunks have text of the page that this one leaves out between its own: it was written later."""
    begin, end = chunk.stretch or (0, 0)
    own = united((max(first, begin), min(last, end)) for first, last in chunk.spans if first < end and last > begin)
    return any(_is_held(held, before[1], after[0]) for before, after in pairwise(own))


def _is_held(held: Sequence[Place], begin: int, end: int) -> bool:
    """Whether chunks have any of a part of the page."""
    return begin < end and any(first < end and last > begin for first, last in held)
