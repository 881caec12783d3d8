"""The error of an alert that did not arrive. What does not live here: telling again later (``sensor``)."""

from __future__ import annotations

from ragval_pipeline.errors import RagvalError


class AlertNotSentError(RagvalError):
    """A place that alerts go to refused one, or could not be reached; the message holds no secret.

    Args:
        target: Name of the place.
        problem: What happened, one clause.
    """

    exit_code = 3

    def __init__(self, target: str, problem: str) -> None:
        self.target = target
        self.problem = problem
        super().__init__(f"{target}: {problem}")
