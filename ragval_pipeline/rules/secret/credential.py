"""Credentials in the index."""

from __future__ import annotations

from typing import Any, NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import LISTED, Names
from ragval_pipeline.rules.rule import Rule


class Place(NamedTuple):
    """Where a value is.

    Attributes:
        kind: What it is.
        field: Name of the payload field.
        position: Characters before it in the field's text.
    """

    kind: str
    field: str
    position: int


class Details(NamedTuple):
    """Where a point holds what nobody should read; the values themselves are nowhere.

    Attributes:
        found: Kind, field and position of each.
    """

    found: list[dict[str, Any]]

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        places = [Place(**each) for each in self.found[:LISTED]]
        return ", ".join(f"{place.kind} in {place.field} at character {place.position + 1}" for place in places)


RULE = Rule(
    code="secret.credential",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="reingest",
    title="Credentials in the index",
    means="holds a credential that no page shows",
    many="hold credentials that no page shows",
    measured=(
        "Every text that is read of the points is compared with the rules of detect-secrets and with a few of "
        "gitleaks: keys and tokens with a known form, private keys, passwords in addresses. Placeholders of "
        "documentation and what a page of the site shows are none. Only kind, field and position are shown; every file "
        "of the run has the kind in the value's place. Passwords without a known form are not recognised."
    ),
    cause="The ingestion read more than the pages show, such as a configuration, a comment or an earlier version.",
    remedy=(
        "Revoke the credential first: whoever can ask the assistant may have read it. Then remove it where the "
        "ingestion reads it, and re-ingest the pages."
    ),
    breaks={Aspect.TEXT},
    details=Details,
)
