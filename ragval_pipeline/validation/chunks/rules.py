"""Token counts that are no counts: a fixed number for each word or character.

What lives here: finding the rule that a collection's claims follow to the token. What does not: claims that only stand
in a steady relation to the recount (``claims``), and what is said about claims that break the rule
(``token_count_off``).

A rule holds for code, links and every script alike, however far its counts are from any tokenizer's there: words times
1.3 give a Japanese page a dozen tokens. Such claims are estimates that the whole collection shares, and none of them is
off. Claims are never believed to be tokens because of a rule.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.validation.facts.texts import TextFacts

#: Estimates that are tokens by and large: of English words 0.4 to 0.7 of the recount, of marks and words up to 1.3.
_PLAUSIBLE = (0.3, 2.0)
#: Share of all claims that must follow the rule: half of them may be spoilt.
_MIN_SHARE, _MIN_CLAIMS = 0.45, 5
#: Of those claims that are not off by the rule, the share that must follow it. A tokenizer's counts scatter.
_NEARLY_ALL, _OFF = 0.95, 2.0
#: How far a claim that follows it may be: rounded to a whole token, after a scale that was learnt from rounded ones.
_ROUNDED, _SCALED = 1.0, 0.01

_MEASURES: Mapping[str, Callable[[TextFacts], int]] = {
    "words": lambda chunk: chunk.parts,
    "words and marks": lambda chunk: chunk.marks,
    "characters": lambda chunk: chunk.characters,
}


@dataclass(frozen=True)
class Rule:
    """How a collection estimates tokens.

    Args:
        unit: What it counts.
        scale: Claimed tokens for each of them.
    """

    unit: str
    scale: float

    def claim(self, chunk: TextFacts) -> float:
        """What the collection claims for a chunk."""
        return self.scale * _MEASURES[self.unit](chunk)


def find_rule(counted: Sequence[TextFacts]) -> Rule | None:
    """The rule that the claims follow; null when they follow none."""
    pairs = [(chunk, chunk.claimed) for chunk in counted if chunk.claimed is not None]
    low, high = _PLAUSIBLE
    fitting = [(chunk, claimed) for chunk, claimed in pairs if low <= claimed / max(chunk.tokens, 1) <= high]
    if len(fitting) < _MIN_CLAIMS:
        return None
    for unit, measure in _MEASURES.items():
        measured = sorted(((measure(chunk), claimed) for chunk, claimed in fitting), reverse=True)
        # Of long texts, whose rounding weighs little.
        long = measured[: max(_MIN_CLAIMS, len(measured) // 2)]
        rule = Rule(unit, statistics.median(claimed / max(count, 1) for count, claimed in long))
        if _is_estimate(rule, counted) and _is_followed(rule, pairs):
            return rule
    return None


def _is_estimate(rule: Rule, counted: Sequence[TextFacts]) -> bool:
    """Whether the rule gives tokens by and large: of Latin script if there is any, which all tokenizers cut alike."""
    latin = [chunk for chunk in counted if chunk.script == "latin"]
    ratios = [rule.claim(chunk) / max(chunk.tokens, 1) for chunk in (latin if len(latin) >= _MIN_CLAIMS else counted)]
    return statistics.median(ratios) <= _PLAUSIBLE[1]


def _is_followed(rule: Rule, pairs: Sequence[tuple[TextFacts, int]]) -> bool:
    near = [
        abs(claimed - rule.claim(chunk)) <= _ROUNDED + _SCALED * claimed
        for chunk, claimed in pairs
        if claimed / _OFF <= rule.claim(chunk) <= claimed * _OFF
    ]
    return sum(near) >= max(_MIN_CLAIMS, _MIN_SHARE * len(pairs), _NEARLY_ALL * len(near))
