"""Invisible characters in texts."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

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
)
