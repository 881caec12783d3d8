"""Same text stored several times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.copies import same_as
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Which points hold the text of one.

    Attributes:
        others: Ids of those that hold the same text; None: it is within another one.
        copies: How many hold it, this one included.
        within: Id of the point of the same page that holds all of its text beside more.
    """

    others: Sequence[str] | None = None
    copies: int | None = None
    within: str | None = None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        if self.within:
            return f"all of it is also in {names.value('others', [self.within])}"
        return same_as(self.others or (), names)


RULE = Rule(
    code="chunk.duplicate_text",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="delete",
    title="Same text stored several times",
    means="has the same text as another point",
    many="have the same text as another point",
    measured=(
        "Points are grouped by their text, ignoring differences in whitespace and invisible characters. A "
        "point is listed if it has no position of its own on the page: the text is not on its page, the page was "
        "not read, or the text is stored for the page more often than it occurs there."
    ),
    cause="The same passage was stored several times.",
    remedy=(
        "Keep one of several copies on a page and delete the others, listed under delete_point_ids in "
        "remediation.json. Review copies on several pages yourself. Remove duplicates before embedding."
    ),
    breaks={Aspect.COPIES},
    reads={
        Aspect.FIELD,
        Aspect.PAGE,
        Aspect.PLACE,
        Aspect.POSITION,
        Aspect.CURRENT,
        Aspect.CUT,
        Aspect.LETTERS,
    },
    fields=("source_url", "text"),
    error_share=0.5,
    repair="copies",
    keeps_one=True,
    details=Details,
)
