"""What a collection's own token counts are worth, and how many tokens a chunk then has.

What lives here: learning how claimed counts relate to a recount, and the best estimate for one chunk. What does not:
counting (``recount``), and what is said about claims and limits (``token_count_off``, ``over_limit``).

The offline tokenizer is not the model's. Where the claimed counts of most chunks stand in one steady relation to the
recount, that relation is how the collection counts: claims that follow it are believed, so that a chunker which cuts
at exactly 512 of the model's own tokens is not called over the limit; the other chunks are recounted and scaled by it,
and are over the limit when no claim that would be believed is within it.
Where there is no such relation, or one that no tokenizer gives (counts of words), the recount stands alone: what
tokenizers differ by makes it a range. Where the model's own tokenizer counted, nothing is estimated.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.sources.embedders.tokens import RATIOS, Script
from ragval_pipeline.validation.facts.texts import TextFacts

#: Chunks of fewer tokens say little: special tokens and prefixes weigh too much.
_MIN_TOKENS = 20
_MIN_CLAIMS = 5
#: Share of the claims that must be in a plausible relation: half of them may be spoilt, and some odd besides.
_MIN_SHARE = 0.4
#: Claimed / recounted that some tokenizer gives. Scripts other than Latin are cut into bytes by the offline one.
_PLAUSIBLE: Mapping[Script, tuple[float, float]] = {
    "latin": (0.5, 2.0), "accented": (0.4, 1.6), "other": (0.2, 1.25),
}  # fmt: skip
#: The same for counts that are believed: words are 0.6 to 0.7 of the recount, the tokens of other models 0.8 to 1.2.
_BELIEVED: Mapping[Script, tuple[float, float]] = {
    "latin": (0.75, 1.35), "accented": (0.55, 1.35), "other": (0.2, 1.25),
}  # fmt: skip
#: Spread of the logarithm of that relation up to which single claims are believed: about one in three.
_STEADY = 0.25
#: How much worse than the best a measure may predict claims and still count: one that gives them exactly stands alone.
_AS_GOOD, _EXACT = 2.0, 0.01
#: How far from the relation a believed claim may be, in spreads, and at least as a share of the count and in tokens.
_SPREADS, _SHARE, _SPECIAL = 3.0, 0.05, 3


@dataclass(frozen=True)
class Relation:
    """How claimed counts relate to what can be counted, for texts of one script.

    Args:
        tokens: Claimed tokens for each recounted one.
        words: Claimed tokens for each word or mark.
        chars: Claimed tokens for each character.
        spread: Robust standard deviation of the logarithm of ``tokens`` over chunks.
        spreads: The same for all three.
        claims: Claims that it was learnt from.
    """

    tokens: float
    words: float
    chars: float
    spread: float
    spreads: tuple[float, float, float]
    claims: int

    def predictions(self, chunk: TextFacts) -> list[float]:
        """What the collection would claim for a chunk: by tokens, words and characters, those that predict well."""
        found = (chunk.tokens * self.tokens, chunk.marks * self.words, chunk.characters * self.chars)
        reach = _AS_GOOD * min(self.spreads) + _EXACT
        return [value for value, spread in zip(found, self.spreads, strict=True) if spread <= reach]


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
    by_script: dict[Script, list[TextFacts]] = {}
    for chunk in counted:
        if chunk.claimed is not None and chunk.tokens >= _MIN_TOKENS:
            by_script.setdefault(chunk.script, []).append(chunk)
    learnt = {script: _learn(chunks, _PLAUSIBLE[script]) for script, chunks in by_script.items()}
    relations = {script: relation for script, relation in learnt.items() if relation is not None}
    if "latin" not in relations and len(by_script.get("latin", ())) >= _MIN_CLAIMS:
        # What is no count of the script that all tokenizers cut alike is none of another.
        return {}
    same = next((relation for relation in relations.values() if _counts_alike(relation)), None)
    few = {script: chunks for script, chunks in by_script.items() if script not in relations}
    return relations | {script: same for script, chunks in few.items() if same and _follow(chunks, same)}


def estimate(chunk: TextFacts, relations: Relations) -> Estimate:
    """The tokens that the model reads of a chunk, its header included.

    The exact count where there is one; else the claim where it is believed; else the recount, scaled where there is a
    relation.
    """
    if chunk.exact is not None:
        return Estimate(chunk.exact, chunk.exact, chunk.exact)
    low, high = RATIOS[chunk.script]
    relation = relations.get(chunk.script)
    if relation is None or not _is_trusted(relation, chunk.script):
        read = chunk.tokens + chunk.added
        return Estimate(read, read * low, read * high)
    scaled = chunk.tokens * relation.tokens
    tolerance = _tolerance(scaled, relation.spread)
    if chunk.claimed is not None and abs(math.log(chunk.claimed / max(scaled, 1.0))) <= tolerance:
        whole = chunk.claimed + chunk.added * relation.tokens
        return Estimate(whole, whole, whole)
    whole = scaled + chunk.added * relation.tokens
    return Estimate(whole, whole * max(math.exp(-tolerance), low), whole * min(math.exp(tolerance), high))


def _counts_alike(relation: Relation) -> bool:
    """Whether the collection counts with the offline tokenizer: it then does so for every script."""
    return relation.spread <= _EXACT and abs(math.log(relation.tokens)) <= _EXACT


def _follow(chunks: Sequence[TextFacts], relation: Relation) -> bool:
    """Whether most claims of a script with too few of them are just what a relation of another script gives."""
    exact = [abs(math.log((chunk.claimed or 0) / (chunk.tokens * relation.tokens))) <= _EXACT for chunk in chunks]
    return 2 * sum(exact) > len(exact)


def _is_trusted(relation: Relation, script: Script) -> bool:
    low, high = _BELIEVED[script]
    return relation.spread <= _STEADY and low <= relation.tokens <= high


def _tolerance(scaled: float, spread: float) -> float:
    """How far the logarithm of a believed claim may be from that of the scaled recount."""
    return max(_SPREADS * spread, _SHARE) + _SPECIAL / max(scaled, 1.0)


def _learn(chunks: Sequence[TextFacts], plausible: tuple[float, float]) -> Relation | None:
    low, high = plausible
    pairs = [(chunk, chunk.claimed) for chunk in chunks if chunk.claimed is not None]
    fitting = [(chunk, claimed) for chunk, claimed in pairs if low <= claimed / chunk.tokens <= high]
    if len(pairs) < _MIN_CLAIMS or len(fitting) < max(_MIN_SHARE * len(pairs), 2):
        return None
    scales, spreads = zip(
        _centre([claimed / chunk.tokens for chunk, claimed in fitting]),
        _centre([claimed / chunk.marks for chunk, claimed in fitting]),
        _centre([claimed / chunk.characters for chunk, claimed in fitting]),
        strict=True,
    )
    return Relation(*scales, spread=spreads[0], spreads=spreads, claims=len(fitting))


def _centre(ratios: Sequence[float]) -> tuple[float, float]:
    """The median, and the robust standard deviation of the logarithm."""
    middle = statistics.median(ratios)
    return middle, 1.4826 * statistics.median(abs(math.log(ratio / middle)) for ratio in ratios)
