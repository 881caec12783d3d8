"""Text changed after it was hashed."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="text.hash_mismatch",
    severity="error",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="reingest",
    title="Text changed after it was hashed",
    means="has a text that does not match its stored hash",
    many="have a text that does not match its stored hash",
    measured=(
        "The stored hash is compared with hashes of the text in several forms. Points are judged only if "
        "a large share of all hashes can be reproduced."
    ),
    cause="The text was changed after it was hashed and embedded.",
    remedy="Re-ingest the pages of these points.",
    breaks={Aspect.TEXT, Aspect.OWN},
    reads={Aspect.FIELD},
    fields=("text_hash", "text"),
    repair="rewrite",
)
