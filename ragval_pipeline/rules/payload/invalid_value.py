"""Impossible value in a field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.fields import odd_values, tell_odd
from ragval_pipeline.rules.rule import Found, Rule, Told


class Held(NamedTuple):
    """What a field holds.

    Attributes:
        value: The value, as shown; None: it holds none.
        title_of: The page whose title it is, if that is another.
    """

    value: Any = None
    title_of: str | None = None

    def note(self, _: Names) -> str:
        """Empty: names and values say it."""
        return ""


def tell(found: Found) -> Told:
    """What the field must be, with an example; an ingestion may call a page otherwise than the page does."""
    told = tell_odd(found)
    taken = [row for row in found.rows if row["title_of"] is not None]
    if taken:
        value, page = taken[0]["value"], taken[0]["title_of"]
        cause = f"{found.rows[0]['scope']} must be the title of its page; found {value}, the title of {page}."
        told = replace(told, cause=cause)
    return replace(told, severity="warning") if len(taken) == len(found) else told


RULE = Rule(
    code="payload.invalid_value",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Impossible value in a field",
    means="has a value that the field cannot have",
    many="have a value that the field cannot have",
    measured=(
        "Values are checked against what the field can contain: URLs, counts from 1, times that are not in "
        "the future. A title that is another page's, and names nothing of its own page, is a warning."
    ),
    cause="The ingestion computed or parsed the value wrongly.",
    remedy=(
        "Correct the value at its source, then re-ingest the pages of these points. "
        "Where text and vector are right, it is enough to set the field in the payload."
    ),
    breaks={Aspect.FIELD},
    reads={Aspect.ORIGIN},
    repair="fill",
    details=Held,
    sql=odd_values("invalid", "title_of"),
    tell=tell,
)
