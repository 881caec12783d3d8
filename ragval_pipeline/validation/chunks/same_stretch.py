"""Which points with the same chunk number have the same part of their page, and which only share the number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence

from ragval_pipeline.validation.chunks.order import Number
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.groups import groups_of_pairs
from ragval_pipeline.validation.thresholds import MOST

#: The parts of its page in a chunk, as (start, end) letters, end exclusive.
Shape = tuple[tuple[int, int], ...]


def stretches(
    chunks: Sequence[ChunkFacts], groups: Mapping[Number, Collection[str]], texts: Mapping[str, int]
) -> dict[str, Hashable]:
    """A number for the content of some points, by id: equal for the same part of the page, or the same text.

    Empty if most of the points have the content of a point with another number: then the page is partly stored twice in
    other chunks, and the numbers are meaningless.

    Args:
        chunks: All chunks of one page that was read, of one depth.
        groups: Points that share a number, by the number.
        texts: The text of each point without a position of its own, as a number.
    """
    # Repeated text of the page has no known position: it is identified by its text.
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
    """Shapes mostly contained in another one, with that one."""
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
    """For each of some shapes, the first of its connected shapes."""
    known = frozenset(shapes)
    pairs = ((shape, holder) for shape in known for holder in within[shape] if holder in known)
    return {shape: group[0] for group in groups_of_pairs(pairs) for shape in group}
