"""Texts that are not on their page."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.integrity.drifted import Details
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="integrity.gone",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="reingest",
    title="Texts that are not on their page",
    means="has a text that is not on its page",
    many="have a text that is not on their page",
    measured="Each chunk is aligned with its page. It is reported if less than half of it is found there.",
    cause=(
        "The passage was removed from the page, belongs to another page, or was never visible: some "
        "extractors treat comments, scripts or the data of pictures in the source as text."
    ),
    remedy=(
        "Re-ingest the pages under reingest_urls in remediation.json: those that the points are stored "
        "under, and those that the texts come from. Delete old points that this leaves. If a page has not changed, "
        "correct the extraction first, because re-ingesting alone stores the same text again. Exclude generated "
        "summaries and questions with qdrant.filter."
    ),
    breaks={Aspect.TEXT, Aspect.OWN, Aspect.PLACE, Aspect.TARGET},
    reads={
        Aspect.VARIETY,
        Aspect.CURRENT,
        Aspect.VERSION,
        Aspect.OWN,
        Aspect.LETTERS,
        Aspect.FRAME,
        Aspect.CUT,
    },
    fields=("source_url",),
    lowers=("content_integrity",),
    repair="rewrite",
    details=Details,
)
