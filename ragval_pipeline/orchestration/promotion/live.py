"""The suite of what is live: the candidate's suite, asked of the alias.

What lives here: deriving it. Both sides are measured by the same criteria and queries, so that they can be compared.
"""

from __future__ import annotations

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.gates import gates_of
from ragval_pipeline.suite.load import variant_of
from ragval_pipeline.suite.model import Suite


def live_suite(candidate: Suite, alias: str) -> Suite:
    """The suite ``<candidate>_live`` of the collection behind ``alias``.

    It requires nothing: an index that went bad must not stand in the way of the better one.

    Raises:
        SuiteError: The candidate is the alias itself.
    """
    if candidate.qdrant.collection == alias:
        raise SuiteError(
            f"{alias} is the alias that is live, so there is no candidate",
            key="qdrant.collection",
            remedy="Name the new collection, or another alias that the ingestion points to it.",
        )
    shown = {
        name: {"threshold": gate.threshold, "required": False}
        for name, gate in gates_of(candidate).items()
        if gate.required
    }
    return variant_of(
        candidate,
        {
            "suite": f"{candidate.suite}_live",
            "qdrant": {"collection": alias},
            "criteria": shown,
            "history": {"baseline": None},
            "automation": {"after_asset": None, "after_job": None, "cron": None, "poll_s": None, "enabled": False},
        },
    )
