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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.sources.embedders.tokens import RATIOS, Script
from ragval_pipeline.validation.chunks.columns import Columns
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

if TYPE_CHECKING:
    from ragval_pipeline.validation.chunks.columns import Counts, Mask

#: What a claim may be an estimate from.
_MEASURES: tuple[Callable[[Columns], Counts], ...] = (
    lambda texts: texts.tokens,
    lambda texts: texts.parts,
    lambda texts: texts.marks,
    lambda texts: texts.characters,
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

    def expected(self, texts: Columns) -> Counts:
        """What the collection would claim for some texts, by the measure that predicts its claims best."""
        best = self.spreads.index(min(self.spreads))
        return self.scales[best] * _MEASURES[best](texts)

    def allowed(self, texts: Columns) -> tuple[Counts, Counts]:
        """Smallest and largest claims that are not off: tokenizers differ by a factor, and claims scatter a little."""
        expected, factor = self.expected(texts), MISCOUNTED * math.exp(_scatter(min(self.spreads)))
        return expected / factor, expected * factor

    def gives(self, texts: Columns) -> Mask:
        """Whether it gives the claims but for rounding."""
        return abs(texts.claimed - self.expected(texts)) <= 1 + COUNT_ROUNDING * texts.claimed

    def is_trusted(self, script: Script) -> bool:
        """Whether claims that follow it are tokens of the model: what other measures predict better are estimates."""
        low, high = RATIOS[script]
        steady = self.spreads[0] <= 2 * min(self.spreads) + COUNT_ROUNDING
        return steady and low <= self.tokens <= high and self.tolerance <= math.log(MISCOUNTED)


#: By script; a script without a relation is not there.
Relations = Mapping[Script, Relation]


@dataclass(frozen=True)
class Estimate:
    """Tokens that texts have for their model.

    Args:
        tokens: The estimates.
        at_least: Their lower ends, allowing for the difference between tokenizers.
        at_most: Their upper ends.
    """

    tokens: Counts
    at_least: Counts
    at_most: Counts

    @property
    def measured(self) -> Mask:
        """Which are counts and no estimates."""
        counted: Mask = self.at_least == self.at_most
        return counted


def learn_relations(texts: Columns) -> Relations:
    """The relation for each script with enough claims that agree."""
    usable = (texts.claimed > 0) & (texts.tokens >= SHORT_TEXT)
    scripts = {script: texts.some(usable & rows) for script, rows in texts.by_script().items()}
    by_script = {script: claims for script, claims in scripts.items() if len(claims)}
    learnt = {script: _learn(claims, plausible_range(script)) for script, claims in by_script.items()}
    relations = {script: relation for script, relation in learnt.items() if relation is not None}
    if "latin" not in relations and len(by_script.get("latin", ())) >= FEWEST:
        # What is no count of the script that all tokenizers cut alike is none of another.
        return {}
    for script in by_script.keys() - relations.keys():
        same = next((known for known in learnt.values() if known and _is_followed(known, by_script[script])), None)
        relations |= {script: same} if same else {}
    return relations


def _is_followed(relation: Relation, claims: Columns) -> bool:
    """Whether most claims of a script with too few of them are just what a relation of another script gives."""
    return int(relation.gives(claims).sum()) > MOST * len(claims)


def _scatter(spread: float) -> float:
    """How far the logarithms of claims of this spread may be from what is expected."""
    return max(CHANCE * spread, FEW)


def plausible_range(script: Script) -> tuple[float, float]:
    """Claimed / recounted that some tokenizer or estimate gives."""
    return RATIOS[script][0] / MISCOUNTED, MISCOUNTED


def estimate(texts: Columns, relations: Relations) -> Estimate:
    """The tokens that the models read of texts, their headers included.

    The exact count where there is one; else the claim where it is believed; else the recount, scaled where there is a
    relation.
    """
    import numpy as np

    whole, least, most = texts.exact.copy(), texts.exact.copy(), texts.exact.copy()
    for script, rows in texts.by_script().items():
        chosen = np.flatnonzero(rows & np.isnan(texts.exact))
        if len(chosen):
            whole[chosen], least[chosen], most[chosen] = _estimated(texts.some(chosen), script, relations.get(script))
    return Estimate(whole, least, most)


def _estimated(texts: Columns, script: Script, relation: Relation | None) -> tuple[Counts, Counts, Counts]:
    """Estimates of texts of one script, with their lower and upper ends."""
    import numpy as np

    low, high = RATIOS[script]
    if relation is None or not relation.is_trusted(script):
        read = texts.tokens + texts.added
        return read, read * low, read * high
    scaled, added = texts.tokens * relation.tokens, texts.added * relation.tokens
    tolerance = relation.tolerance + SPECIAL_TOKENS / np.maximum(scaled, 1.0)
    believed = abs(np.log(texts.claimed / np.maximum(scaled, 1.0))) <= tolerance
    whole = np.where(believed, texts.claimed, scaled) + added
    least, most = np.maximum(np.exp(-tolerance), low), np.minimum(np.exp(tolerance), high)
    return whole, np.where(believed, whole, whole * least), np.where(believed, whole, whole * most)


def _learn(claims: Columns, plausible: tuple[float, float]) -> Relation | None:
    low, high = plausible
    ratios = claims.claimed / claims.tokens
    fitting = claims.some((low <= ratios) & (ratios <= high))
    if len(fitting) < FEWEST:
        return None
    scales, spreads = zip(*(_fit(measure(fitting), fitting.claimed) for measure in _MEASURES), strict=True)
    relation = Relation(scales, spreads)
    least, most = relation.allowed(claims)
    followed = int(((least <= claims.claimed) & (claims.claimed <= most)).sum())
    return relation if followed >= FOLLOWED * len(claims) else None


def _fit(counts: Counts, claimed: Counts) -> tuple[float, float]:
    """The median of claimed / counted, and the robust standard deviation of its logarithm, in the longer texts."""
    import numpy as np

    long = np.lexsort((claimed, counts))[::-1][: max(FEWEST, len(counts) // 2)]  # rounding weighs little there
    ratios = claimed[long] / np.maximum(counts[long], 1)
    middle = float(np.median(ratios))
    return middle, 1.4826 * float(np.median(abs(np.log(ratios / middle))))  # definition
