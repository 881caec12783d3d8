"""Markup in the texts.

A function and no query: whether a passage is only escaped shows when it is unescaped, which SQL cannot do.
"""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.numbers import show_percent


class Details(NamedTuple):
    """How much of a chunk is markup.

    Attributes:
        letters: Letters of markup.
        share: Their share of all letters, 0..1.
    """

    letters: int
    share: float

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"{show_percent(self.share)} of its letters are markup"


RULE = Rule(
    code="text.markup",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Markup in the texts",
    means="contains markup that its page does not show",
    many="contain markup that their pages do not show",
    measured=(
        "Tags with their attributes, comments, entities, scripts, styles, template code, control words of RTF and "
        "pictures in base64 in a chunk are searched for in what its page shows: HTML that a page shows as code is "
        "text. A page counts if a point of it has template code, three other pieces, or 40 letters in them, of tags "
        "and template code that it never shows as code; then each of its points with any does. Chunks that are "
        "mostly not on their page, or whose page could not be read, are not judged."
    ),
    cause="The source of the pages was stored instead of their text.",
    remedy=(
        "Extract the text from the HTML or RTF, without data: addresses of pictures, or render templates, before "
        "chunking, and re-ingest."
    ),
    breaks={Aspect.FRAME, Aspect.LETTERS},
    error_share=0.5,
    repair="rewrite",
    details=Details,
)
