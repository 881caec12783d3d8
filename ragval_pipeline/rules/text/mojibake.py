"""Garbled characters in texts."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

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
)
