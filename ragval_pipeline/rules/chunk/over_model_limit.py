"""Chunks longer than the model reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.numbers import show_percent
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """How much of a chunk the model reads.

    Attributes:
        tokens: Its tokens.
        limit: Tokens that the model reads.
        embedded_share: Share of it that the model reads, 0..1; None: only estimated.
        at_least: Lower end of an estimate of its tokens.
        at_most: Upper end.
        point: Its id, if the page is the subject.
    """

    tokens: int
    limit: int
    embedded_share: float | None = None
    at_least: int | None = None
    at_most: int | None = None
    point: str | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        share = "" if self.embedded_share is None else f", {show_percent(self.embedded_share)} of it"
        about = "about " if self.embedded_share is None else ""
        return f"{about}{plural(self.tokens, 'token')}; the model reads {self.limit:,}{share}"


class Whole(NamedTuple):
    """What was measured on the finding as a whole.

    Attributes:
        limits: Tokens that each model reads.
    """

    limits: Mapping[str, float] | None = None


RULE = Rule(
    code="chunk.over_model_limit",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Chunks longer than the model reads",
    means="has more tokens than the embedding model reads",
    many="have more tokens than the embedding model reads",
    measured=(
        "The tokens of each text are counted with the model's own tokenizer if ragval has it, otherwise "
        "with the stored counts or a cautious estimate, and compared with the model's limit. The model is the one "
        "named in the payload, otherwise the one in the suite."
    ),
    cause="The chunker makes chunks longer than the model's input limit. Text beyond the limit is not searchable.",
    remedy="Make chunks shorter than the model's limit and re-ingest.",
    breaks={Aspect.LENGTH},
    reads={Aspect.LENGTH, Aspect.LETTERS},
    error_share=0.5,
    repair="cut",
    details=Details,
)
