"""Whether a question has a page that answers it: what the index's own answers look like with and without that page.

No score means the same under two embedders, so nothing is compared with a number of another index. Each answered
question shows two things: the *evidence* of its best page, and what is left when that page is taken away, which is the
evidence of a question without a page. Evidence is the best score, and the share of the question's telling words that
are in a hit. Both are weighted so that they separate best what is found with and without the page (Fisher's linear
discriminant). The evidence of a log's questions is then a mixture of both kinds: its parts are fitted (EM), starting
from what was taken away, and with the test queries whose answer is known held fixed. A question is unanswered where it
more probably has no page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.lazy import np
from ragval_pipeline.validation.thresholds import FEWEST_ASKED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

#: Rounds of EM, and the change of the share of unanswered questions from which no more is needed.
_ROUNDS, _CONVERGED = 500, 1e-6  # work
#: Observations that the start weighs as much as, so that a few questions do not make a part of the mixture.
_PRIOR = 10.0  # definition
#: Added to variances: scores are given to six digits.
_LEAST = 1e-6  # definition


class Evidence(NamedTuple):
    """What speaks for a page: its best score, higher is better, and the share of the telling words in a hit, 0..1."""

    score: float
    words: float


@dataclass(frozen=True)
class Observed:
    """The evidence for a question.

    Attributes:
        best: Of the best page.
        without: Of the best other page; None if no other page was returned.
        answered: Whether the question has a page, if that is known.
        count: How often it was asked.
    """

    best: Evidence
    without: Evidence | None = None
    answered: bool | None = None
    count: float = 1.0


@dataclass(frozen=True)
class Confidence:
    """What separates answered from unanswered questions of an index.

    Attributes:
        weights: Of score and words, both at least 0; their sum is 1.
        threshold: Weighted evidence below which a question is unanswered.
        questions: Number of questions that this rests on.
        known: Number of those whose answer is known.
        scale: What the score is divided by.
    """

    weights: tuple[float, float]
    threshold: float
    questions: int
    known: int
    scale: float = field(default=1.0, repr=False)

    def of(self, evidence: Evidence) -> float:
        """The weighted evidence."""
        return self.weights[0] * evidence.score / self.scale + self.weights[1] * evidence.words

    def is_confident(self, evidence: Evidence) -> bool:
        """Whether a question with this evidence more probably has a page than not."""
        return self.of(evidence) >= self.threshold


def calibrate_confidence(observed: Sequence[Observed]) -> Confidence | None:
    """Learn from answered questions what an unanswered one looks like; None from fewer than ``FEWEST_ASKED``."""
    paired = [(each.best, each.without) for each in observed if each.without is not None]
    if len(observed) < FEWEST_ASKED or len(paired) < FEWEST_ASKED:
        return None
    scale = max(float(np.std([each.best.score for each in observed])), _LEAST)
    scaled = np.array([(each.best.score / scale, each.best.words) for each in observed])
    with_page = np.array([(best.score / scale, best.words) for best, _ in paired])
    without = np.array([(other.score / scale, other.words) for _, other in paired])
    weights = _discriminant(with_page, without)
    values, left = scaled @ weights, without @ weights
    known = np.array([math.nan if each.answered is None else float(not each.answered) for each in observed])
    threshold = _threshold(values, left, known)
    told = int(np.isfinite(known).sum())
    return Confidence((float(weights[0]), float(weights[1])), threshold, len(observed), told, scale)


def _discriminant(with_page: Values, without: Values) -> Values:
    """The direction that separates both best; what separates nothing, or the wrong way, has no weight."""
    spread = (np.cov(with_page.T) + np.cov(without.T)) / 2 + _LEAST * np.eye(2)
    apart = with_page.mean(axis=0) - without.mean(axis=0)
    weights = np.clip(np.linalg.solve(spread, apart), 0, None)
    if not weights.any():
        weights = np.clip(apart, 0, None)
    total = float(weights.sum())
    return weights / total if total else np.array([0.5, 0.5])  # definition


def _threshold(values: Values, left: Values, known: Values) -> float:
    """Where a question is as probably answered as not."""
    fixed = np.isfinite(known)
    low = _Part(float(left.mean()), float(left.var()) + _LEAST, 0.0)
    start = values[known == 0] if (known == 0).sum() >= FEWEST_ASKED else values[values >= np.median(values)]
    high = _Part(float(start.mean()), float(values.var()) + _LEAST, 0.0)
    share, first_low, first_high = 0.5, low, high  # work
    for _ in range(_ROUNDS):
        below, above = share * low.density(values), (1 - share) * high.density(values)
        missing = np.where(fixed, known, below / np.maximum(below + above, np.finfo(float).tiny))
        before, share = share, float((1 + missing[~fixed].sum()) / (2 + (~fixed).sum()))
        low, high = first_low.fitted(values, missing), first_high.fitted(values, 1 - missing, prior=1.0)
        # Without its page a question finds at most what it would find of the other pages.
        low = low if low.mean <= first_low.mean else _Part(first_low.mean, low.variance, low.weight)
        if abs(share - before) < _CONVERGED:
            break
    grid = np.linspace(low.mean, max(high.mean, low.mean + _LEAST), 1001)  # work
    answered = (1 - share) * high.density(grid) >= share * low.density(grid)
    return float(grid[int(answered.argmax())]) if answered.any() else float(grid[-1])


class _Part(NamedTuple):
    """A normal part of a mixture."""

    mean: float
    variance: float
    weight: float

    def density(self, values: Values) -> Values:
        """Its density at some values, without the constant factor."""
        densities: Values = np.exp(-((values - self.mean) ** 2) / (2 * self.variance)) / math.sqrt(self.variance)
        return densities

    def fitted(self, values: Values, shares: Values, prior: float = _PRIOR) -> _Part:
        """The part that values belong to with these shares; the start weighs as much as ``prior`` of them."""
        weight = float(shares.sum())
        mean = (prior * self.mean + float(shares @ values)) / (prior + weight)
        squares = prior * (self.variance + (self.mean - mean) ** 2) + float(shares @ (values - mean) ** 2)
        return _Part(mean, squares / (prior + weight) + _LEAST, weight)
