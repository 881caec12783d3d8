"""Texts that differ from their page."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="integrity.drifted",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="reingest",
    title="Texts that differ from their page",
    means="differs from its page",
    many="differ from their pages",
    measured=(
        "Each chunk is aligned with its page. It differs if the page has another word or number somewhere "
        "between two of its pieces, if it lacks words within a line of the page or letters within a word, or if too "
        "many of its letters are not on the page. What it leaves out between lines is no difference."
    ),
    cause="The page was edited after ingestion, or the extraction changes text.",
    remedy=(
        "Re-ingest the pages that have changed. If a page has not changed, correct the extraction first, "
        "because re-ingesting alone stores the same text again."
    ),
    breaks={Aspect.TEXT},
    reads={
        Aspect.VARIETY,
        Aspect.CURRENT,
        Aspect.LATEST,
        Aspect.VERSION,
        Aspect.LETTERS,
        Aspect.FRAME,
        Aspect.TEXT,
    },
    fields=("source_url",),
    lowers=("content_integrity",),
    repair="rewrite",
)
