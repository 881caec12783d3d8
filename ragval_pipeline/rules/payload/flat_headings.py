"""Heading paths stop at the first level."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """How a field of headings loses their levels.

    Attributes:
        pages: Pages with deeper headings.
        flat: Those of them on which it is flat.
        share: Their share, 0..1.
    """

    pages: int
    flat: int
    share: float = 0.0

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        which = f"all {self.pages}" if self.flat == self.pages else f"{self.flat} of the {self.pages}"
        return f"flat on {which} pages with deeper headings"


RULE = Rule(
    code="payload.flat_headings",
    severity="info",
    level="corpus",
    group="metadata",
    subject_kind="field",
    action="chunker",
    title="Heading paths stop at the first level",
    means="never goes below the first level",
    many="never go below the first level",
    measured=(
        "The stored heading path of each chunk is compared with the headings of its page. The field is "
        "reported if nearly all pages with deeper headings store only the first level."
    ),
    cause="The chunker loses the sections that a chunk belongs to.",
    remedy="Store the whole heading path of each chunk.",
    details=Details,
)
