"""Pages with missing chunks.

A function and no query: from where a page counts, and which values are pages, is decided once for all rules of chunk
numbers, in columns that a query would compute a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Numbers that the chunks of a page lack.

    Attributes:
        missing: The first of them.
        missing_count: How many there are.
        lowest: The lowest number of its chunks.
        highest: The highest.
    """

    missing: Sequence[int]
    missing_count: int
    lowest: int = 0
    highest: int = 0

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        shown = ", ".join(map(str, self.missing[:10]))
        more = "" if self.missing_count <= 10 else f" and {self.missing_count - 10} more"
        return f"chunk_index {shown}{more} missing, the highest is {self.highest}"


RULE = Rule(
    code="chunk.index_gap",
    severity="error",
    level="subject",
    group="chunks",
    subject_kind="page",
    action="reingest",
    title="Pages with missing chunks",
    means="lacks some of its chunks",
    many="lack some of their chunks",
    measured="The chunk numbers of each page are checked for gaps between 0 and the highest number.",
    cause=(
        "Points were deleted or overwritten by others with the same id, or the ingestion stopped or skipped "
        "while writing the page."
    ),
    remedy=(
        "Re-ingest these URLs. If the same gaps come back, the ingestion drops chunks after numbering them: "
        "number them last, or change the severity of chunk.index_gap. If other gaps appear, points overwrite each "
        "other: make ids from the whole address and the chunk number."
    ),
    breaks={Aspect.PRESENCE},
    reads={Aspect.FIELD, Aspect.PLACE, Aspect.OWN, Aspect.CURRENT},
    fields=("source_url", "chunk_index"),
    repair="complete",
    details=Details,
)
