"""Whether a question has a page that answers it: what the index's own answers look like with and without that page.

No score means the same under two embedders, so nothing is compared with a number of another index. Each answered
question shows two things: the *evidence* of its best page, and what is left when that page is taken away, which is the
evidence of a question without a page. Evidence is the best score, and the share of the question's telling terms that
are in a hit. The evidence of a log's questions is then a mixture of both kinds, each taken as normal: they are fitted
(EM), starting from what was taken away, and with the test queries whose answer is known held fixed. A question is
unanswered where it more probably has no page.
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


class Part(NamedTuple):
    """A normal part of a mixture, of score and words.

    Attributes:
        mean: Shape (2,).
        spread: Covariance, shape (2, 2).
    """

    mean: Values
    spread: Values

    @classmethod
    def of(cls, evidence: Values, spread: Values | None = None) -> Part:
        """The part of some evidence, shape (n, 2), or with another covariance."""
        found: Values = np.cov(evidence.T) if spread is None else spread
        return cls(evidence.mean(axis=0), found + _LEAST * np.eye(2))

    def density(self, evidence: Values) -> Values:
        """Its density at some evidence, shape (n, 2), without the constant factor."""
        apart = evidence - self.mean
        far = np.einsum("ij,jk,ik->i", apart, np.linalg.inv(self.spread), apart)
        densities: Values = np.exp(-far / 2) / math.sqrt(float(np.linalg.det(self.spread)))
        return densities

    def fitted(self, evidence: Values, shares: Values, prior: float) -> Part:
        """The part that evidence belongs to with these shares; the start weighs as much as ``prior`` of it."""
        weight = prior + float(shares.sum())
        mean = (prior * self.mean + shares @ evidence) / weight
        apart, moved = evidence - mean, self.mean - mean
        spread = prior * (self.spread + np.outer(moved, moved)) + (apart * shares[:, None]).T @ apart
        return Part(mean, spread / weight + _LEAST * np.eye(2))


@dataclass(frozen=True)
class Confidence:
    """What separates answered from unanswered questions of an index.

    Attributes:
        answered: The evidence of answered questions, scaled.
        unanswered: That of questions without a page.
        share: Share of questions without a page, 0..1.
        questions: Number of questions that this rests on.
        known: Number of those whose answer is known.
        scale: What evidence is divided by, shape (2,).
    """

    answered: Part
    unanswered: Part
    share: float
    questions: int
    known: int
    scale: Values = field(repr=False)

    def is_confident(self, evidence: Evidence) -> bool:
        """Whether a question with this evidence more probably has a page than not.

        More evidence than usual is no reason to doubt, and less than without a page none to believe.
        """
        given = np.array([evidence]) / self.scale
        if (given <= self.unanswered.mean).all():
            return False
        usual = np.minimum(given, self.answered.mean)
        without, with_page = self.unanswered.density(usual), self.answered.density(usual)
        return bool((1 - self.share) * with_page[0] >= self.share * without[0])


def calibrate_confidence(observed: Sequence[Observed]) -> Confidence | None:
    """Learn from answered questions what an unanswered one looks like; None from fewer than ``FEWEST_ASKED``."""
    left = np.array([each.without for each in observed if each.without is not None])
    if min(len(observed), len(left)) < FEWEST_ASKED:
        return None
    best = np.array([each.best for each in observed])
    scale = np.maximum(best.std(axis=0), _LEAST)
    known = np.array([math.nan if each.answered is None else float(not each.answered) for each in observed])
    answered, unanswered, share = _mixture(best / scale, left / scale, known)
    return Confidence(answered, unanswered, share, len(observed), int(np.isfinite(known).sum()), scale)


def _mixture(best: Values, left: Values, known: Values) -> tuple[Part, Part, float]:
    """The parts of answered and of unanswered questions, and the share of the latter.

    Args:
        best: Evidence of each question, shape (n, 2).
        left: Evidence of questions whose best page is taken away, shape (m, 2).
        known: 0 for a question known to be answered, 1 for one known not to be, else not a number; shape (n,).
    """
    fixed = np.isfinite(known)
    low = first = Part.of(left)
    right = best[known == 0]
    if len(right) < FEWEST_ASKED:
        upper = best[(best >= np.median(best, axis=0)).all(axis=1)]
        right = upper if len(upper) else best
    high = Part.of(right, np.cov(best.T))
    share = 0.5  # work
    for _ in range(_ROUNDS):
        below, above = share * low.density(best), (1 - share) * high.density(best)
        missing = np.where(fixed, known, below / np.maximum(below + above, np.finfo(float).tiny))
        before, share = share, float((1 + missing[~fixed].sum()) / (2 + (~fixed).sum()))
        low, high = first.fitted(best, missing, _PRIOR), high.fitted(best, 1 - missing, 1.0)
        # Without its page a question finds at most what is left of others.
        low = low._replace(mean=np.minimum(low.mean, first.mean))
        if abs(share - before) < _CONVERGED:
            break
    return high, low, share
