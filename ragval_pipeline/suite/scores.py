"""Which of two scores is better, and whether one is as good as another."""

from __future__ import annotations

#: Scores are computed in single precision: a difference this small is rounding.
ROUNDING = 1e-6  # definition


def are_of_vectors(mode: str | None, retriever: object) -> bool:
    """Whether scores are those of a dense vector, similarities or distances.

    Those of words, of sparse vectors, of fused ranks and of the user's own search are unbounded, and higher is better.

    Args:
        mode: How questions are asked; None is ``dense``.
        retriever: The user's own search; None: there is none.
    """
    return retriever is None and mode in (None, "dense")


def reaches(score: float, threshold: float, *, higher: bool) -> bool:
    """Whether a score is at least as good as another; ``higher`` says which are the better ones."""
    return score >= threshold - ROUNDING if higher else score <= threshold + ROUNDING
