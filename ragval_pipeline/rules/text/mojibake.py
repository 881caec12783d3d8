"""Garbled characters in texts.

A function and no query: what a passage should read is decoded, which SQL cannot do.
"""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import PASSAGE, Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """A garbled passage of a chunk.

    Attributes:
        passages: Number of such passages.
        example: The first.
        reads: What it should read; None: unknown.
    """

    passages: int
    example: str
    reads: str | None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        read = " ".join(str(self.reads or "").split())
        meant = f"“{shorten(self.example, PASSAGE)}”" + (f" should read “{shorten(read, PASSAGE)}”" if read else "")
        more = self.passages - 1
        return f"{meant}, and {plural(more, 'more passage')}" if more else meant


RULE = Rule(
    code="text.mojibake",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="reingest",
    title="Garbled characters in texts",
    means="contains garbled characters",
    many="contain garbled characters",
    measured=(
        "Texts are searched for traces of wrong decoding, such as “Ã©” for “é”. Comparison with the page "
        "finds words that became question marks, words in a wrong character set, and characters left escaped as in "
        "HTML or JSON. Anything that is on the page itself is ignored."
    ),
    cause="UTF-8 was read as Latin-1 or Windows-1252, or the text was left encoded or escaped.",
    remedy="Decode pages with the character set that the server declares, and re-ingest.",
    breaks={Aspect.LETTERS},
    lowers=("content_integrity",),
    error_share=0.5,
    repair="rewrite",
    details=Details,
)
