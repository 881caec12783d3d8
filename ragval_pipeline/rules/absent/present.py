"""What must be absent is in the index."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="absent.present",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="delete",
    title="What must be absent is in the index",
    means="holds what must be absent",
    many="hold what must be absent",
    measured=(
        "The addresses, ids and phrases of absent are looked for in every point: its page, its ids, its text, "
        "title and headings. Case, punctuation and line breaks make no difference to a phrase. Phrases are named by "
        "their number in the list and shown nowhere."
    ),
    cause="It was taken down or was never meant for readers, and the ingestion did not delete its points.",
    remedy="Delete the points under delete_point_ids in remediation.json.",
    breaks={Aspect.ABSENCE},
)
