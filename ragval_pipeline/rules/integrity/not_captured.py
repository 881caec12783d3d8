"""Page content missing from the chunks."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="integrity.not_captured",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="page",
    action="reingest",
    title="Page content missing from the chunks",
    means="has passages that are in none of its chunks",
    many="have passages that are in none of their chunks",
    measured=(
        "Each passage of the page's content is searched for in the chunks of that page. Menus, footers and "
        "very short blocks do not count as content, but consecutive short rows, items and pieces of code are counted "
        "together, and a page is also reported if less than two thirds of its text is in its chunks."
    ),
    cause="The page was edited after ingestion, or the extraction or the chunker drops parts of it.",
    remedy=(
        "Re-ingest the pages that have changed. If a page has not changed, correct the extraction or the "
        "chunker first, because re-ingesting alone loses the same passages again. If the content is left out on "
        "purpose, change the severity of integrity.not_captured."
    ),
    breaks={Aspect.KEPT},
    reads={
        Aspect.FIELD,
        Aspect.PRESENCE,
        Aspect.PLACE,
        Aspect.VERSION,
        Aspect.HEADINGS,
        Aspect.TEXT,
        Aspect.CUT,
        Aspect.LETTERS,
    },
    fields=("source_url", "text"),
    lowers=("source_captured",),
    repair="complete",
)
