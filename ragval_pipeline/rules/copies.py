"""Details of points of which others hold the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.details import Names


class Copies(NamedTuple):
    """Which points hold the same as one.

    Attributes:
        others: Their ids.
        within: Id of the point of the same page that holds all of its text beside more.
    """

    others: Sequence[str] | None = None
    within: str | None = None

    def note(self, names: Names) -> str:
        """The points, by their names."""
        if self.within:
            return f"all of it is also in {names.value('others', [self.within])}"
        return f"the same as {names.value('others', self.others)}" if self.others else ""
