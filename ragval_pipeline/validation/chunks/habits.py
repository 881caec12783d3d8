"""What an ingestion adds before or after its chunks: a title, a source line, a summary of the document."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.facts.rows import ChunkFacts, Edge
from ragval_pipeline.validation.thresholds import FEW, FEWEST, HABIT, MOST

#: Wildcard for any word.
ANY = ""

_DIGITS = re.compile(r"\d+")

#: An edge and the key of its page.
_Placed = tuple[str, Edge]


@dataclass(frozen=True)
class Habits:
    """The edges that an ingestion adds to its chunks.

    Attributes:
        openings: By outermost word, or ``ANY``, the largest edge that is a habit.
        closings: The same at the end.
        usual: The words of both with which most chunks begin or end; all of them if almost all chunks have some.
        frequent: Words with which chunks of several pages begin or end, or which are inserted between their words, such
            as the text of a picture: however few, the ingestion adds them.
    """

    openings: Mapping[str, Edge] = field(default_factory=dict)
    closings: Mapping[str, Edge] = field(default_factory=dict)
    usual: frozenset[str] = frozenset()
    frequent: frozenset[str] = frozenset()

    @classmethod
    def of(cls, chunks: Iterable[ChunkFacts], *, total: int, pages: int) -> Habits:
        """The habits found in chunks.

        ``chunks`` are those that differ from their page, of ``total`` whose page was read.
        """
        # Swapped texts may begin alike: chunks that are hardly on their page show no habits.
        differing = list(chunks)
        shown = [chunk for chunk in differing if chunk.found >= MOST * chunk.letters]
        telling = total - len(differing) + len(shown)
        openings = [[(chunk.page_key or "", edge) for edge in chunk.openings] for chunk in shown]
        closings = [[(chunk.page_key or "", edge) for edge in chunk.closings] for chunk in shown]
        (before, most_before), (behind, most_behind) = (
            _habitual(of, total, pages, telling) for of in (openings, closings)
        )
        put = {(chunk.page_key, word) for chunk in shown for words in _put_in(chunk) for word in words}
        pages_with = Counter(word for _, word in put)
        frequent = frozenset(word for word, count in pages_with.items() if count >= FEWEST)
        return cls(before, behind, most_before | most_behind, frequent)

    def has_put_all(self, chunk: ChunkFacts) -> bool:
        """Whether everything added at a chunk's edges, and between its words, is from the ingestion."""
        # A description quotes the title and the first heading, which follow each other on the page: its own words
        # between them are part of the edge.
        outside = chunk.letters - chunk.found - sum(edge.missing for edge in self.in_chunk(chunk))
        if outside > 0 and not self.frequent.issuperset(_inserted_in(chunk)):
            return False
        known = {*self.frequent, *self.openings, *self.closings}
        return ANY in (*self.openings, *self.closings) or all(map(known.intersection, _ends_of(chunk)))

    def in_chunk(self, chunk: ChunkFacts) -> list[Edge]:
        """The habitual part of a chunk's edges."""
        # A chunk that is only an addition ends with it.
        worded = {word: edge for word, edge in self.openings.items() if word != ANY}
        if not chunk.found:  # another text, or only habitual lines
            known = ((edge, _habit_of(edge, worded)) for edge in chunk.openings)
            return [edge for edge, habit in known if habit is not None and edge.missing <= habit.missing]
        closings = {**worded, **self.closings}
        return [*_habitual_part(chunk.openings, self.openings), *_habitual_part(chunk.closings, closings)]


def _put_in(chunk: ChunkFacts) -> Iterator[Sequence[str]]:
    """The words inserted in a chunk, and those of its edges."""
    yield _inserted_in(chunk)
    yield from _ends_of(chunk)


def _inserted_in(chunk: ChunkFacts) -> tuple[str, ...]:
    """The letters of what a chunk has between words, without digits: numbers differ from chunk to chunk."""
    return tuple(_DIGITS.sub("", fold(text)) for text in chunk.inserted)


def _ends_of(chunk: ChunkFacts) -> Iterator[Sequence[str]]:
    """The words of a chunk's outermost edges, before and after everything on its page."""
    yield from (edge.words for edge in chunk.openings[:1] if not chunk.head)
    yield from (edge.words for edge in chunk.closings[:1] if not chunk.tail)


def _habitual_part(edges: Iterable[Edge], habits: Mapping[str, Edge]) -> Iterator[Edge]:
    """The habitual part of some edges, outermost first.

    The unused part of an outer edge's habit goes to the next: a long title on the page splits what is one edge
    elsewhere. Keywords and questions are in the page's words, between which it has others.
    """
    missing = replaced = 0
    for edge in edges:
        habit = _habit_of(edge, habits)
        if habit is not None:
            missing, replaced = missing + habit.missing, replaced + habit.replaced
        is_all = habit is not None and edge.missing <= habit.missing
        part = Edge(edge.word, min(edge.missing, missing), edge.replaced if is_all else min(edge.replaced, replaced))
        missing, replaced = missing - part.missing, max(replaced - part.replaced, 0)
        if part.missing:
            yield part


def _habit_of(edge: Edge, habits: Mapping[str, Edge]) -> Edge | None:
    return next((habits[word] for word in (*edge.words, ANY) if word in habits), None)


def _habitual(
    edges: Sequence[Sequence[_Placed]], chunks: int, pages: int, telling: int
) -> tuple[dict[str, Edge], frozenset[str]]:
    """The habits by their words, and the words of those that are usual among conclusive chunks."""
    by_word: defaultdict[str, list[_Placed]] = defaultdict(list)
    for own in edges:
        for word, placed in {word: (key, edge) for key, edge in own if edge.missing for word in edge.words}.items():
            by_word[word].append(placed)
    habits = {word: _largest(word, found) for word, found in by_word.items() if _is_habit(found, chunks, pages)}
    # Descriptions of chunks are in almost all of them, in individual words or in shared wordings.
    lacking = [[placed for placed in own if placed[1].missing] for own in edges]
    added = [own for own in lacking if own]
    if len(added) < max(FEWEST, (1 - FEW) * telling):
        return habits, frozenset(word for word in habits if len(by_word[word]) > MOST * chunks)
    others = [own[0] for own in added if not any(_habit_of(edge, habits) for _, edge in own)]
    if len(others) > max(FEWEST - 1, FEW * chunks):
        habits[ANY] = _largest(ANY, others)
    return habits, frozenset(habits)


def _is_habit(found: Sequence[_Placed], chunks: int, pages: int) -> bool:
    """Whether enough chunks, or a chunk of most pages, begin (end) with the same word."""
    on_pages = len({key for key, _ in found})
    return len(found) >= max(FEWEST, HABIT * chunks) or on_pages >= max(FEWEST, MOST * pages)


def _largest(word: str, found: Sequence[_Placed]) -> Edge:
    """Twice the lower median: anything beyond has changed, as half of the chunks may have directly after theirs."""
    middle = (len(found) - 1) // 2
    missing = sorted(edge.missing for _, edge in found)[middle]
    replaced = sorted(edge.replaced for _, edge in found)[middle]
    return Edge(word, 2 * missing, 2 * replaced)
