"""Invisible characters in texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.printing import times


class Details(NamedTuple):
    """Invisible characters of a point.

    Attributes:
        characters: How often it has each, by name.
        places: Where it has them; None: in its text.
    """

    characters: dict[str, int] | None = None
    places: Sequence[str] | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        characters = ", ".join(f"{name} {times(count)}" for name, count in (self.characters or {}).items())
        return f"{characters} in its {' and '.join(self.places or ['text'])}" if characters else ""


RULE = Rule(
    code="text.zero_width",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Invisible characters in texts",
    means="contains zero-width or control characters",
    many="contain zero-width or control characters",
    measured="Texts and headings are searched for invisible characters, such as U+200B.",
    cause="The extraction kept invisible characters, for example from heading anchors.",
    remedy="Remove them before embedding and re-ingest.",
    reads={Aspect.FIELD, Aspect.LETTERS},
    repair="rewrite",
    details=Details,
)
