"""One page fills the results."""

from ragval_pipeline.rules.aspects import OF_VECTORS, Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="retrieval.crowded_top_k",
    severity="warning",
    level="subject",
    group="queries",
    subject_kind="query",
    action="chunker",
    title="One page fills the results",
    means="gets results dominated by one page or by near-duplicates",
    many="get results dominated by one page or by near-duplicates",
    measured=(
        "The hits of each query are grouped by page and by nearly identical text. A hit that mostly has what "
        "better hits of its page have repeats them."
    ),
    cause="Chunks overlap too much, or a page is stored several times.",
    remedy="Remove duplicates, or group hits by page.",
    reads=OF_VECTORS
    | {
        Aspect.POSITION,
        Aspect.COPIES,
        Aspect.CURRENT,
        Aspect.TEXT,
        Aspect.CUT,
        Aspect.LETTERS,
        Aspect.WORDS,
        Aspect.DISTINCTION,
    },
    simulated_as="crowded answers",
)
