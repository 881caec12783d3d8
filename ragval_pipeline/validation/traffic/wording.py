"""Questions grouped by their wording, without a model: those that share most of what is telling in them.

A word tells the more the fewer questions of the log have it, whatever the language: "how do I" tells nothing. Words are
compared by their beginnings, so that inflected forms agree.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from ragval_pipeline.suite.traffic import AskedText
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.validation.thresholds import SAME_WORDING

#: Letters of a word that are compared. Cutting words to their first letters retrieves as well as stemming them, in all
#: eight languages of McNamee and Mayfield, "Character N-Gram Tokenization for European Language Text Retrieval" (2004).
STEM = 6  # definition
#: Wordings named of a cluster.
_WORDINGS = 5  # shown


def stems(text: str) -> set[str]:
    """The beginnings of the words of a text."""
    return {word[:STEM] for word in words_of(text)}


def counted_terms(text: str) -> Counter[Term]:
    """The beginnings of the words of a text and the pairs of neighbours among them, and how often each occurs."""
    words = [word[:STEM] for word in words_of(text)]
    return Counter[Term]([*words, *pairwise(words)])


#: A word, or two that follow each other: the words of "water meter" are on many pages, the pair on those about it.
Term = str | tuple[str, str]


@dataclass(frozen=True)
class Cluster:
    """Questions of nearly the same wording.

    Attributes:
        text: The most frequent wording.
        count: How often any of them was asked.
        filter: Their payload filter, as JSON text; empty without one.
        wordings: The most frequent wordings, at most five.
        size: Number of wordings.
    """

    text: str
    count: float
    filter: str = ""
    wordings: tuple[str, ...] = ()
    size: int = 1


@dataclass
class Rarity:
    """How much each word tells among some texts: the logarithm of their number by that of those that have it."""

    texts: int
    having: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]]) -> Rarity:
        """The rarity of words among texts, given by their words."""
        having: Counter[str] = Counter()
        count = 0
        for words in texts:
            having.update(set(words))
            count += 1
        return cls(count, having)

    def __call__(self, word: str) -> float:
        """Its weight; 0 for a word that every text has."""
        return math.log((self.texts + 1) / (self.having.get(word, 0) + 1))


@dataclass
class Wordings:
    """Groups of questions, each around its most frequent wording.

    A question belongs to the most similar group that asks with the same filter, if the cosine of their weighted words
    is at least ``SAME_WORDING``; else it makes one. Two texts that similar share one of the heaviest words of each, so
    only groups with such a word are compared.
    """

    rarity: Rarity
    _leaders: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict, repr=False)
    _by_word: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list), repr=False)

    def add(self, text: str, only: str = "") -> int:
        """The number of the group of a question, which may be a new one."""
        found = self.find(text, only)
        return self.open(text, only) if found is None else found

    def open(self, text: str, only: str = "") -> int:
        """Make a group around a question; its number."""
        weights = self._weights(text)
        number = len(self._leaders)
        self._leaders[only, number] = weights
        for word in self._telling(weights):
            self._by_word[only, word].append(number)
        return number

    def find(self, text: str, only: str = "") -> int | None:
        """The number of the group that a question belongs to; None without one."""
        weights = self._weights(text)
        candidates = {number for word in self._telling(weights) for number in self._by_word.get((only, word), ())}
        best, nearest = SAME_WORDING, None
        for number in sorted(candidates):
            other = self._leaders[only, number]
            few, many = (weights, other) if len(weights) < len(other) else (other, weights)
            likeness = sum(weight * many[word] for word, weight in few.items() if word in many)
            if likeness > best or (nearest is None and likeness >= best):
                best, nearest = likeness, number
        return nearest

    def _weights(self, text: str) -> dict[str, float]:
        """Weights of the words of a text, of unit length."""
        weights = {word: self.rarity(word) for word in stems(text)}
        if not any(weights.values()):
            weights = dict.fromkeys(weights, 1.0)
        length = math.hypot(*weights.values())
        return {word: weight / length for word, weight in weights.items()}

    @staticmethod
    def _telling(weights: Mapping[str, float]) -> list[str]:
        """The heaviest words, without which no other text can be similar enough."""
        ordered = sorted(weights, key=lambda word: (-weights[word], word))
        left, words = 1.0, []
        for word in ordered:
            # What the remaining words can contribute to a cosine is at most their length.
            if left < SAME_WORDING**2:
                break
            words.append(word)
            left -= weights[word] ** 2
        return words


@dataclass(frozen=True)
class Clustered:
    """A log in clusters, most asked first."""

    clusters: Sequence[Cluster]
    rarity: Rarity

    @cached_property
    def wordings(self) -> Wordings:
        """The clusters, to look others up in; their numbers are places in ``clusters``."""
        made = Wordings(self.rarity)
        for cluster in self.clusters:
            made.open(cluster.text, cluster.filter)
        return made


def cluster_questions(questions: Sequence[AskedText]) -> Clustered:
    """Group the questions of a log, most asked first, by their wording."""
    rarity = Rarity.of(stems(question.text) for question in questions)
    groups = Wordings(rarity)
    members: dict[int, list[AskedText]] = {}
    # Questions that differ in punctuation or in words that tell nothing are looked up once.
    known: dict[tuple[str, frozenset[str]], int] = {}
    for question in questions:
        key = question.filter, frozenset(stems(question.text))
        if key not in known:
            known[key] = groups.add(question.text, question.filter)
        members.setdefault(known[key], []).append(question)
    clusters = [
        Cluster(
            text=members_of[0].text,
            count=sum(question.count for question in members_of),
            filter=members_of[0].filter,
            wordings=tuple(question.text for question in members_of[:_WORDINGS]),
            size=len(members_of),
        )
        for members_of in members.values()
    ]
    return Clustered(sorted(clusters, key=lambda cluster: (-cluster.count, cluster.text, cluster.filter)), rarity)
