"""Whether a question has a page that answers it: what the index's own answers look like with and without that page.

No score means the same under two embedders, so nothing is compared with a number of another index. Each question shows
two things: the *evidence* of its best pages, and what is left when those are taken away, which is the evidence of a
question without a page. Questions that are alike are mostly answered by the same page, so the evidence of each is
averaged with that of the questions nearest to it. What separates both kinds best is a weighted sum of the evidence
(Fisher's linear discriminant). The sums of a log's questions are then a mixture of both kinds, each taken as normal:
they are fitted (EM), starting from what was taken away, and with the test queries whose answer is known held fixed. A
question is unanswered where it more probably has no page.
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
#: Added to the variances of what is weighed, of about 1: evidence that says nothing, or the same as other, gets no
#: weight.
_RIDGE = 1e-3  # definition
#: Questions that the evidence of each is averaged with, and the power of their cosine that they weigh: chosen on logs
#: of the generated handbook, and of Instructor's and Flask's documentation.
_NEAREST, _POWER = 8, 4  # definition
#: Probability from which a question counts as unanswered, and from which that is as good as certain.
DOUBTFUL, SURE = 0.5, 0.9  # definition
#: Questions compared with all others at once.
_AT_ONCE = 512  # work
#: Largest argument that `exp` is asked for: above it a double overflows.
_LARGEST_EXPONENT = 700.0  # definition


class Evidence(NamedTuple):
    """What speaks for a page, all higher where it is better.

    Attributes:
        score: Best score of a hit.
        words: Share of the question's telling words in a chunk, 0..1.
        named: Share of its telling words, and of the pairs of them that follow each other, in the title and headings of
            a chunk, 0..1.
        said: How often a chunk says them, for its length (BM25), by the most that is possible, 0..1.
    """

    score: float
    words: float
    named: float
    said: float


@dataclass(frozen=True)
class Observed:
    """The evidence for a question.

    Attributes:
        best: Of the best pages.
        without: Of what is left without them; None if no other page was returned.
        answered: Whether the question has a page, if that is known.
    """

    best: Evidence
    without: Evidence | None = None
    answered: bool | None = None


class Part(NamedTuple):
    """A normal part of a mixture."""

    mean: float
    variance: float

    def log_density(self, sums: Values) -> Values:
        """Logarithm of its density, without the constant term."""
        logs: Values = -((sums - self.mean) ** 2) / (2 * self.variance) - math.log(self.variance) / 2
        return logs

    def fitted(self, sums: Values, shares: Values, prior: float) -> Part:
        """The part that sums belong to with these shares; the start weighs as much as ``prior`` of them."""
        weight = prior + float(shares.sum())
        mean = float(prior * self.mean + shares @ sums) / weight
        spread = prior * (self.variance + (self.mean - mean) ** 2) + float(shares @ (sums - mean) ** 2)
        return Part(mean, spread / weight + _LEAST)


@dataclass(frozen=True)
class Confidence:
    """What separates answered from unanswered questions of an index.

    Attributes:
        weights: What evidence is multiplied by, shape (4,); the sum is higher where it is better.
        answered: The sums of answered questions.
        unanswered: Those of questions without a page.
        share: Share of questions without a page, 0..1.
        questions: Number of questions that this rests on.
        known: Number of those whose answer is known.
    """

    weights: Values = field(repr=False)
    answered: Part
    unanswered: Part
    share: float
    questions: int
    known: int

    def unanswered_probability(self, evidence: Evidence) -> float:
        """How probable it is that a question with this evidence has no page, 0..1.

        More evidence than usual is no reason to doubt, and less than without a page none to believe.
        """
        total = min(float(np.dot(self.weights, evidence)), self.answered.mean)
        low, high = (float(part.log_density(np.array(total))) for part in (self.unanswered, self.answered))
        found = self.share / (self.share + (1 - self.share) * math.exp(min(high - low, _LARGEST_EXPONENT)))
        return max(found, DOUBTFUL) if total <= self.unanswered.mean else found

    def is_confident(self, evidence: Evidence) -> bool:
        """Whether a question with this evidence more probably has a page than not."""
        return self.unanswered_probability(evidence) < DOUBTFUL


def averaged(observed: Sequence[Observed], vectors: Sequence[Values | None], filters: Sequence[str]) -> list[Observed]:
    """The evidence of each question averaged with that of the nearest ones; the same without vectors.

    Args:
        observed: The questions.
        vectors: Of each, of unit length, shape (n,); None if it has none.
        filters: Of each: only questions with the same one are compared.
    """
    made = list(observed)
    groups: dict[str, list[tuple[int, Values]]] = {}
    for place, (each, vector, only) in enumerate(zip(observed, vectors, filters, strict=True)):
        if vector is not None and each.without is not None:
            groups.setdefault(only, []).append((place, vector))
    for members in groups.values():
        if len(members) <= _NEAREST:
            continue
        pairs = np.array([(observed[place].best, observed[place].without) for place, _ in members])
        mixed = _with_nearest(pairs, np.stack([vector for _, vector in members]))
        for (place, _), (best, left) in zip(members, mixed.tolist(), strict=True):
            made[place] = Observed(Evidence(*best), Evidence(*left), observed[place].answered)
    return made


def _with_nearest(pairs: Values, vectors: Values) -> Values:
    """Evidence averaged with that of the nearest vectors, both of shape (m, 2, 4)."""
    mixed = []
    for start in range(0, len(vectors), _AT_ONCE):
        likeness = vectors[start : start + _AT_ONCE] @ vectors.T
        rows = np.arange(len(likeness))
        likeness[rows, start + rows] = -1
        nearest = np.argpartition(-likeness, _NEAREST - 1, axis=1)[:, :_NEAREST]
        weights = np.maximum(np.take_along_axis(likeness, nearest, axis=1), 0) ** _POWER
        sums = pairs[start : start + _AT_ONCE] + np.einsum("qn,qnpe->qpe", weights, pairs[nearest])
        mixed.append(sums / (1 + weights.sum(axis=1))[:, None, None])
    return np.concatenate(mixed)


def calibrate_confidence(observed: Sequence[Observed]) -> Confidence | None:
    """Learn from answered questions what an unanswered one looks like; None from fewer than ``FEWEST_ASKED``."""
    left = np.array([each.without for each in observed if each.without is not None])
    if min(len(observed), len(left)) < FEWEST_ASKED:
        return None
    best = np.array([each.best for each in observed])
    weights = _weights(best, left)
    known = np.array([math.nan if each.answered is None else float(not each.answered) for each in observed])
    answered, unanswered, share = _mixture(best @ weights, left @ weights, known)
    return Confidence(weights, answered, unanswered, share, len(observed), int(np.isfinite(known).sum()))


def _weights(best: Values, left: Values) -> Values:
    """The weights of the sum that separates two sets of evidence best, shapes (n, 4) and (m, 4)."""
    scale = np.maximum(best.std(axis=0), _LEAST)
    spread = (np.cov((best / scale).T) + np.cov((left / scale).T)) / 2 + _RIDGE * np.eye(len(scale))
    weights: Values = np.linalg.solve(spread, (best.mean(axis=0) - left.mean(axis=0)) / scale) / scale
    return weights


def _mixture(best: Values, left: Values, known: Values) -> tuple[Part, Part, float]:
    """The parts of answered and of unanswered questions, and the share of the latter.

    Args:
        best: Sum of the evidence of each question, shape (n,).
        left: Of questions whose best pages are taken away, shape (m,).
        known: 0 for a question known to be answered, 1 for one known not to be, else not a number; shape (n,).
    """
    fixed = np.isfinite(known)
    low = first = Part(float(left.mean()), float(left.var()) + _LEAST)
    right = best[known == 0]
    if len(right) < FEWEST_ASKED:
        right = best[best >= np.median(best)]
    high = Part(float(right.mean()), float(best.var()) + _LEAST)
    share = 0.5  # work
    for _ in range(_ROUNDS):
        odds = low.log_density(best) - high.log_density(best) + math.log(share / (1 - share))
        missing = np.where(fixed, known, 1 / (1 + np.exp(np.clip(-odds, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))))
        before, share = share, float((1 + missing[~fixed].sum()) / (2 + (~fixed).sum()))
        low, high = first.fitted(best, missing, _PRIOR), high.fitted(best, 1 - missing, 1.0)
        # Without its page a question finds at most what is left of others.
        low = low._replace(mean=min(low.mean, first.mean))
        if abs(share - before) < _CONVERGED:
            break
    return high, low, share
