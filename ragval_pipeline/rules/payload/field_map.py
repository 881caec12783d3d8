"""Field not found under its configured name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule


class Whole(NamedTuple):
    """What was measured on the finding as a whole.

    Attributes:
        suggested: Payload path by canonical field, of those to change.
    """

    suggested: Mapping[str, str] | None = None


RULE = Rule(
    code="payload.field_map",
    severity="error",
    level="corpus",
    group="metadata",
    subject_kind="field",
    action="setting",
    title="Field not found under its configured name",
    means="is not in the payload under the name the suite expects",
    many="are not in the payload under the names the suite expects",
    measured="If hardly any point has a required field, it is searched for under other names and in nested objects.",
    cause="The payload is nested or uses other names than the suite's field map.",
    remedy="Put the suggested names under payload.fields.",
    breaks={Aspect.FIELD, Aspect.ORIGIN},
    repair="map_fields",
    to_copy="fields",
)
