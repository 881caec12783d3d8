"""Which chunks of an index hold the words of a question: a search by vectors may miss them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.lazy import np
from ragval_pipeline.validation.traffic.wording import Rarity, Term, counted_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

#: The usual parameters of BM25.
_K1, _B = 1.2, 0.75  # definition


class Chunk(NamedTuple):
    """The terms of a chunk.

    Attributes:
        terms: Those of its title, headings and text, and how often each occurs.
        named: Those of its title and headings.
    """

    terms: Counter[Term]
    named: Collection[Term]

    @classmethod
    def of(cls, heading: str, text: str) -> Chunk:
        """A chunk by its title and headings, and its text."""
        return cls(counted_terms(f"{heading} {text}"), counted_terms(heading).keys())

    @property
    def length(self) -> int:
        """Number of words."""
        return sum(count for term, count in self.terms.items() if isinstance(term, str))


class Held(NamedTuple):
    """How much of a question's weighted terms chunks hold, as ``Evidence`` says, each 0..1."""

    words: float = 0.0
    named: float = 0.0
    said: float = 0.0


@dataclass(frozen=True)
class Holding:
    """What each chunk holds of a question.

    Attributes:
        numbers: Numbers of the pages, by their keys.
        pages: Number of each chunk's page, shape (n,).
        held: ``words``, ``named`` and ``said`` of each chunk, shape (3, n).
    """

    numbers: Mapping[str | None, int]
    pages: NDArray[np.int64]
    held: Values

    def best_page(self) -> str | None:
        """The page of the chunk that says most of it; None if none does."""
        if not self.held.size or not self.held[2].any():
            return None
        number = self.pages[self.held[2].argmax()]
        return next(page for page, each in self.numbers.items() if each == number)

    def most(self, without: Collection[str | None] = ()) -> Held:
        """The most that any chunk of the other pages holds."""
        gone = [self.numbers[page] for page in without if page in self.numbers]
        kept = ~np.isin(self.pages, gone)
        return Held(*self.held[:, kept].max(axis=1).tolist()) if kept.any() else Held()


class Lexicon:
    """The chunks of an index by the terms of a log, as far as both have them."""

    def __init__(self, chunks: Iterable[tuple[str | None, Chunk]], asked: Collection[Term]) -> None:
        """Read chunks, each with the key of its page, and keep the terms that are asked for."""
        places: defaultdict[Term, list[tuple[int, int, bool]]] = defaultdict(list)
        numbers: dict[str | None, int] = {}
        pages, lengths = [], []
        for place, (page, chunk) in enumerate(chunks):
            pages.append(numbers.setdefault(page, len(numbers)))
            lengths.append(chunk.length)
            for term in chunk.terms.keys() & asked:
                places[term].append((place, chunk.terms[term], term in chunk.named))
        self._numbers = numbers
        self._pages, self._lengths = np.array(pages, dtype=np.int64), np.array(lengths, dtype=float)
        self._places = {term: np.array(found) for term, found in places.items()}
        self._mean = max(float(self._lengths.mean()), 1.0) if lengths else 1.0
        self.rarity = Rarity(len(pages), {term: len(found) for term, found in places.items() if isinstance(term, str)})

    def search(self, weights: Mapping[Term, float]) -> Holding:
        """What each chunk holds of weighted terms."""
        held = np.zeros((3, len(self._pages)))  # work
        for term, weight in weights.items():
            found = self._places.get(term)
            if found is None:
                continue
            rows, counts, named = found.T
            held[1, rows] += weight * named
            if isinstance(term, str):
                held[0, rows] += weight
                held[2, rows] += weight * self._said(counts, self._lengths[rows])
        return Holding(self._numbers, self._pages, held / _totals(weights)[:, None])

    def held_by(self, chunk: Chunk, weights: Mapping[Term, float]) -> Held:
        """What one chunk holds of weighted terms, whether it was read before or not."""
        words = {term: weight for term, weight in weights.items() if isinstance(term, str) and term in chunk.terms}
        named = sum(weight for term, weight in weights.items() if term in chunk.named)
        said = sum(weight * float(self._said(chunk.terms[term], chunk.length)) for term, weight in words.items())
        return Held(*(np.array([sum(words.values()), named, said]) / _totals(weights)).tolist())

    def _said(self, count: Values | float, length: Values | float) -> Values | float:
        """How much a word says that occurs so often in a chunk of so many words, 0..1 (BM25)."""
        return count / (count + _K1 * (1 - _B + _B * length / self._mean))


def most_probable(scores: Sequence[float], held: Sequence[Held]) -> int:
    """The place of the hit that most probably answers: by score, words and headings, in standard deviations each.

    The best score alone is often that of a neighbour: of a page about a thing next to that which was asked for.

    Args:
        scores: Of the hits, higher is better; at least one.
        held: What each hit holds of the question; more are ignored.
    """
    known = np.array([(score, each.said, each.named) for score, each in zip(scores, held, strict=False)])
    spread = known.std(axis=0)
    return int(((known - known.mean(axis=0)) / np.where(spread > 0, spread, 1)).sum(axis=1).argmax())


def _totals(weights: Mapping[Term, float]) -> Values:
    """What ``Held`` is divided by, shape (3,)."""
    words = sum(weight for term, weight in weights.items() if isinstance(term, str)) or 1.0
    return np.array([words, sum(weights.values()) or 1.0, words])
