"""Which of the points with one chunk number hold the same stretch of their page, and which only share the number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence

from ragval_pipeline.validation.chunks.order import Number
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.groups import groups_of_pairs
from ragval_pipeline.validation.thresholds import MOST

#: The stretches of its page's letters that a chunk holds, as (first, behind the last).
Shape = tuple[tuple[int, int], ...]


def stretches(
    chunks: Sequence[ChunkFacts], groups: Mapping[Number, Collection[str]], texts: Mapping[str, int]
) -> dict[str, Hashable]:
    """What some points hold, by id: those with the same of their number hold the same stretch, or the same text.

    Empty where most of the points hold what a point with another number holds: the page is, in part, stored again in
    other chunks, and the numbers tell nothing.

    Args:
        chunks: All chunks of one page that was read, of one depth.
        groups: Points that share a number, by the number.
        texts: The text of each point that has no place of its own, as a number.
    """
    # Of what the page has more than once the place is not known: its text tells, and it holds no other.
    shapes: dict[str, Shape] = {chunk.point_id: tuple(chunk.spans) for chunk in chunks if not chunk.repeated}
    numbers: dict[Shape, set[int | None]] = defaultdict(set)
    for chunk in chunks:
        if shapes.get(chunk.point_id):
            numbers[shapes[chunk.point_id]].add(chunk.chunk_index)
    within: dict[Shape, set[Shape]] = {shape: {shape} for shape in numbers}
    for shape, holder in _held(list(numbers)):
        within[shape].add(holder)
    names = [(index, name) for (index, _), group in groups.items() for name in group]
    elsewhere = sum(
        any(numbers[holder] - {index} for holder in within.get(shapes.get(name, ()), ())) for index, name in names
    )
    if elsewhere >= MOST * len(names):
        return {}
    found: dict[str, Hashable] = {}
    for group in groups.values():
        first = _joined({shapes[name] for name in group if shapes.get(name)}, within)
        found |= {name: first.get(shapes.get(name, ()), texts.get(name, name)) for name in group}
    return found


def _held(shapes: Sequence[Shape]) -> Iterator[tuple[Shape, Shape]]:
    """Shapes of which another one has most, with that one."""
    shared: Counter[tuple[int, int]] = Counter()
    reach: list[tuple[int, int]] = []
    for first, end, number in sorted((*span, number) for number, shape in enumerate(shapes) for span in shape):
        reach = [entry for entry in reach if entry[0] > first]
        for other_end, other in reach:
            if other != number:
                shared[min(number, other), max(number, other)] += min(end, other_end) - first
        reach.append((end, number))
    for (one, two), letters in shared.items():
        for held, holder in ((shapes[one], shapes[two]), (shapes[two], shapes[one])):
            if letters > MOST * sum(end - first for first, end in held):
                yield held, holder


def _joined(shapes: Collection[Shape], within: Mapping[Shape, Collection[Shape]]) -> dict[Shape, Shape]:
    """The first of those that hold, or are held by, each other, for each of some shapes."""
    known = frozenset(shapes)
    pairs = ((shape, holder) for shape in known for holder in within[shape] if holder in known)
    return {shape: group[0] for group in groups_of_pairs(pairs) for shape in group}
