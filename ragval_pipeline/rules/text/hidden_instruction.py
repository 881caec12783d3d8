"""Hidden text that speaks to a model."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.display import shorten


class Details(NamedTuple):
    """What of a chunk its page hides.

    Attributes:
        element: The hidden element of the page.
        reason: Why no reader sees it.
        wording: The words of the chunk that speak to a model.
    """

    element: str
    reason: str
    wording: str

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"“{shorten(self.wording, 80)}” is in {self.element}, hidden by {self.reason}"


RULE = Rule(
    code="text.hidden_instruction",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="site",
    title="Hidden text that speaks to a model",
    means="holds text that its page hides from readers and that speaks to a model",
    many="hold text that their pages hide from readers and that speaks to a model",
    measured=(
        "Elements that no reader of a page sees or can open, by an attribute, their style, a style sheet in the page, "
        "a comment or a template, are searched for the few wordings that public reports of prompt injection quote. A "
        "point is listed if it holds one of these with the words that follow, and its page does not show them anywhere "
        "else. Style sheets outside the page are not read."
    ),
    cause="Somebody wrote it into the page for assistants to obey, and the ingestion takes what readers do not see.",
    remedy=(
        "Find out who wrote it and remove it from the page. Have the ingestion take only what the page shows, and "
        "re-ingest the pages."
    ),
    breaks={Aspect.TEXT},
    details=Details,
)
