"""How chunks begin and end: wordings that many chunks share.

What lives here: finding them. What does not: whether they are furniture (``boilerplate``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.texts.words import words_of

Edge = Literal["begins", "ends"]
Words = tuple[str, ...]

#: Fewer words are a label or an accident; of longer wordings the first or last words are enough.
MIN_WORDS, MAX_WORDS = 3, 12
#: Headings that are taken off the beginning of a chunk at most.
_HEADINGS = 6
#: Characters at either end that are looked at.
_REACH = 600


@dataclass(frozen=True, slots=True)
class Edges:
    """The first and the last words of a chunk, its own headings left out."""

    ref: PointRef
    begins: Words
    ends: Words


@dataclass(frozen=True)
class Shared:
    """A wording that chunks of several pages share."""

    words: Words
    edge: Edge
    points: tuple[PointRef, ...]

    @property
    def pages(self) -> set[str]:
        """Pages of its points."""
        return {ref.page_key for ref in self.points if ref.page_key is not None}


def edges_of(ref: PointRef, text: str, headings: Iterable[str]) -> Edges:
    """The edges of one chunk."""
    titles = [words for heading in headings if (words := words_of(heading))]
    first = words_of(text[:_REACH])
    for _ in range(_HEADINGS):
        title = next((words for words in titles if first[: len(words)] == words), None)
        if title is None:
            break
        first = first[len(title) :]
    return Edges(ref, tuple(first[:MAX_WORDS]), tuple(words_of(text[-_REACH:])[-MAX_WORDS:]))


def shared_wordings(chunks: Sequence[Edges], *, min_pages: int) -> Iterator[Shared]:
    """The longest wordings at the edges that chunks of at least ``min_pages`` pages share; a point has one an edge."""
    yield from _grow([(entry.ref, entry.begins) for entry in chunks], "begins", MIN_WORDS, min_pages)
    backwards = [(entry.ref, entry.ends[::-1]) for entry in chunks]
    yield from _grow(backwards, "ends", MIN_WORDS, min_pages)


def _grow(chunks: Sequence[tuple[PointRef, Words]], edge: Edge, size: int, min_pages: int) -> Iterator[Shared]:
    groups: dict[Words, list[tuple[PointRef, Words]]] = {}
    for ref, words in chunks:
        if len(words) >= size:
            groups.setdefault(words[:size], []).append((ref, words))
    for words, members in groups.items():
        if len({ref.page_key for ref, _ in members} - {None}) < min_pages:
            continue
        longer = list(_grow(members, edge, size + 1, min_pages)) if size < MAX_WORDS else []
        yield from longer
        taken = {ref for shared in longer for ref in shared.points}
        rest = tuple(ref for ref, _ in members if ref not in taken)
        if rest:
            # Those that go on otherwise are few or many: they share the shorter wording with the others.
            yield Shared(words if edge == "begins" else words[::-1], edge, rest)
