"""Chunk number used twice on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Points with the number of this one.

    Attributes:
        chunk_index: The number.
        others: Ids of the points.
        embedded_at: When it was embedded; None: not stored.
        same: Those of the others that hold the same part of the page, too; None: all.
        older: Whether it is older than another of them; None: not known.
        told_by: What shows it.
    """

    chunk_index: int
    others: Sequence[str]
    embedded_at: str | None
    same: Sequence[str] | None = None
    older: bool | None = None
    told_by: str | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        count = len(self.others)
        return "another point has the same number" if count == 1 else f"{count:,} other points have the same number"


RULE = Rule(
    code="chunk.duplicate_index",
    severity="error",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="delete",
    title="Chunk number used twice on a page",
    means="has the same page and chunk number as another point",
    many="have the same page and chunk number as another point",
    measured=(
        "Points are grouped by page, parent and chunk number. If the page has the text of one point of a "
        "group but not of another, the other is surplus; otherwise the stored embedding times, if any, decide which "
        "point is the newest. Points with different parts of their page are not copies: only their numbers are "
        "wrong. If that is true of all points, the severity is warning."
    ),
    cause="The page was ingested again under new ids without deleting the old points.",
    remedy=(
        "Delete the points under delete_point_ids in remediation.json. For those under review_point_ids it "
        "is not known which is older: decide which to keep. Derive ids from URL and index."
    ),
    breaks={Aspect.POSITION, Aspect.LATEST},
    reads={Aspect.FIELD, Aspect.PLACE, Aspect.POSITION, Aspect.CURRENT},
    fields=("source_url", "chunk_index"),
    repair="copies",
    keeps_one=True,
    details=Details,
)
