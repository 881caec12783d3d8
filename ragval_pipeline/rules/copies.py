"""How points of which others hold the same are told."""

from __future__ import annotations

from collections.abc import Sequence

from ragval_pipeline.rules.details import Names


def same_as(others: Sequence[str], names: Names) -> str:
    """The others, by their names."""
    return f"the same as {names.value('others', others)}" if others else ""
