"""What a collection's own token counts are worth, and how many tokens a chunk then has.

The offline tokenizer is not the model's, and many an ingestion only estimates: words times 1.3, characters over four.
What most claims stand in the steadiest relation to, tokens, words, marks or characters, is how the collection counts.
An estimate holds for code, links and every script alike, however far it is from any tokenizer's count there.

Where that is tokens, and the factor is one that tokenizers differ by, claims that follow it are believed, so that a
chunker which cuts at exactly 512 of the model's own tokens is not called over the limit; the other chunks are recounted
and scaled by it, and are over the limit when no claim that would be believed is within it. Else the recount stands
alone: what tokenizers differ by makes it a range. Where the model's own tokenizer counted, nothing is estimated.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.sources.embedders.tokens import RATIOS, Script
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.thresholds import (
    CHANCE,
    COUNT_ROUNDING,
    FEW,
    FEWEST,
    FOLLOWED,
    MISCOUNTED,
    MOST,
    SHORT_TEXT,
    SPECIAL_TOKENS,
)

#: What a claim may be an estimate from.
_MEASURES: tuple[Callable[[TextFacts], int], ...] = (
    lambda chunk: chunk.tokens,
    lambda chunk: chunk.parts,
    lambda chunk: chunk.marks,
    lambda chunk: chunk.characters,
)


@dataclass(frozen=True)
class Relation:
    """How claimed counts relate to what can be counted, for texts of one script.

    Args:
        scales: Claimed tokens for each token that was recounted, each word, each word or mark, each character.
        spreads: Robust standard deviations of the logarithms of the same over chunks.
    """

    scales: tuple[float, ...]
    spreads: tuple[float, ...]

    @property
    def tokens(self) -> float:
        """Claimed tokens for each one that was recounted."""
        return self.scales[0]

    @property
    def tolerance(self) -> float:
        """How far the logarithm of a claim may be from that of the scaled recount."""
        return _scatter(self.spreads[0])

    def expected(self, chunk: TextFacts) -> float:
        """What the collection would claim for a chunk, by the measure that predicts its claims best."""
        best = self.spreads.index(min(self.spreads))
        return self.scales[best] * _MEASURES[best](chunk)

    def allowed(self, chunk: TextFacts) -> tuple[float, float]:
        """Smallest and largest claim that is not off: tokenizers differ by a factor, and claims scatter a little."""
        expected, factor = self.expected(chunk), MISCOUNTED * math.exp(_scatter(min(self.spreads)))
        return expected / factor, expected * factor

    def gives(self, chunk: TextFacts, claimed: int) -> bool:
        """Whether it gives a claim but for rounding."""
        return abs(claimed - self.expected(chunk)) <= 1 + COUNT_ROUNDING * claimed

    def is_trusted(self, script: Script) -> bool:
        """Whether claims that follow it are tokens of the model: what other measures predict better are estimates."""
        low, high = RATIOS[script]
        steady = self.spreads[0] <= 2 * min(self.spreads) + COUNT_ROUNDING
        return steady and low <= self.tokens <= high and self.tolerance <= math.log(MISCOUNTED)


#: By script; a script without a relation is not there.
Relations = Mapping[Script, Relation]


@dataclass(frozen=True)
class Estimate:
    """Tokens that a chunk has for its model.

    Args:
        tokens: The estimate.
        at_least: Its lower end, allowing for the difference between tokenizers.
        at_most: Its upper end.
    """

    tokens: float
    at_least: float
    at_most: float

    @property
    def measured(self) -> bool:
        """Whether it is a count and no estimate."""
        return self.at_least == self.at_most


def learn_relations(counted: Iterable[TextFacts]) -> Relations:
    """The relation for each script with enough claims that agree."""
    by_script: dict[Script, list[tuple[TextFacts, int]]] = {}
    for chunk in counted:
        if chunk.claimed is not None and chunk.tokens >= SHORT_TEXT:
            by_script.setdefault(chunk.script, []).append((chunk, chunk.claimed))
    learnt = {script: _learn(pairs, plausible_range(script)) for script, pairs in by_script.items()}
    relations = {script: relation for script, relation in learnt.items() if relation is not None}
    if "latin" not in relations and len(by_script.get("latin", ())) >= FEWEST:
        # What is no count of the script that all tokenizers cut alike is none of another.
        return {}
    for script in by_script.keys() - relations.keys():
        same = next((known for known in learnt.values() if known and _is_followed(known, by_script[script])), None)
        relations |= {script: same} if same else {}
    return relations


def _is_followed(relation: Relation, pairs: Sequence[tuple[TextFacts, int]]) -> bool:
    """Whether most claims of a script with too few of them are just what a relation of another script gives."""
    return sum(relation.gives(chunk, claimed) for chunk, claimed in pairs) > MOST * len(pairs)


def _scatter(spread: float) -> float:
    """How far the logarithms of claims of this spread may be from what is expected."""
    return max(CHANCE * spread, FEW)


def plausible_range(script: Script) -> tuple[float, float]:
    """Claimed / recounted that some tokenizer or estimate gives."""
    return RATIOS[script][0] / MISCOUNTED, MISCOUNTED


def estimate(chunk: TextFacts, relations: Relations) -> Estimate:
    """The tokens that the model reads of a chunk, its header included.

    The exact count where there is one; else the claim where it is believed; else the recount, scaled where there is a
    relation.
    """
    if chunk.exact is not None:
        return Estimate(chunk.exact, chunk.exact, chunk.exact)
    low, high = RATIOS[chunk.script]
    relation = relations.get(chunk.script)
    if relation is None or not relation.is_trusted(chunk.script):
        read = chunk.tokens + chunk.added
        return Estimate(read, read * low, read * high)
    scaled = chunk.tokens * relation.tokens
    tolerance = relation.tolerance + SPECIAL_TOKENS / max(scaled, 1.0)
    if chunk.claimed is not None and abs(math.log(chunk.claimed / max(scaled, 1.0))) <= tolerance:
        whole = chunk.claimed + chunk.added * relation.tokens
        return Estimate(whole, whole, whole)
    whole = scaled + chunk.added * relation.tokens
    return Estimate(whole, whole * max(math.exp(-tolerance), low), whole * min(math.exp(tolerance), high))


def _learn(pairs: Sequence[tuple[TextFacts, int]], plausible: tuple[float, float]) -> Relation | None:
    low, high = plausible
    fitting = [(chunk, claimed) for chunk, claimed in pairs if low <= claimed / chunk.tokens <= high]
    if len(fitting) < FEWEST:
        return None
    scales, spreads = zip(
        *(_fit([(measure(chunk), claimed) for chunk, claimed in fitting]) for measure in _MEASURES), strict=True
    )
    relation = Relation(scales, spreads)
    ranges = [(relation.allowed(chunk), claimed) for chunk, claimed in pairs]
    followed = sum(low <= claimed <= high for (low, high), claimed in ranges)
    return relation if followed >= FOLLOWED * len(pairs) else None


def _fit(counts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """The median of claimed / counted, and the robust standard deviation of its logarithm, in the longer texts."""
    long = sorted(counts, reverse=True)[: max(FEWEST, len(counts) // 2)]  # rounding weighs little there
    ratios = [claimed / max(count, 1) for count, claimed in long]
    middle = statistics.median(ratios)
    return middle, 1.4826 * statistics.median(abs(math.log(ratio / middle)) for ratio in ratios)  # definition
