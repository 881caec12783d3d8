"""The value of a criterion from which it is also a finding.

What lives here: looking it up. What does not: gates and verdicts (``validation/verdict``).
"""

from __future__ import annotations

from ragval_pipeline.suite.load import criteria_of, gates_of
from ragval_pipeline.suite.model import Suite


def limit_of(suite: Suite, name: str) -> float:
    """The gate of the criterion, else what is usual where the suite took the gate away."""
    gate = gates_of(suite)[name].threshold
    usual = next(criterion.threshold for criterion in criteria_of(suite) if criterion.name == name)
    limit = usual if gate is None else gate
    assert limit is not None
    return limit
