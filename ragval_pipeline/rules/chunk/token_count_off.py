"""Stored token counts are wrong."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """The token counts of a chunk.

    Attributes:
        claimed: As stored.
        recounted: As counted.
        ratio: Of the former to the latter.
    """

    claimed: int
    recounted: int
    ratio: float | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"{self.claimed:,} stored, {self.recounted:,} counted"


RULE = Rule(
    code="chunk.token_count_off",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Stored token counts are wrong",
    means="has a token count that is far off",
    many="have a token count that is far off",
    measured=(
        "Stored token counts are compared with a recount. Tokenizers differ, so each count is compared "
        "with how the other texts of this collection are counted."
    ),
    cause="The count was estimated, or computed with another tokenizer.",
    remedy="Count tokens with the embedding model's own tokenizer.",
    reads={Aspect.FIELD, Aspect.TEXT, Aspect.CUT, Aspect.KEPT, Aspect.LETTERS},
    fields=("text", "token_count"),
    details=Details,
)
