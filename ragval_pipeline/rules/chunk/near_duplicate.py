"""Nearly the same text on another page."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="chunk.near_duplicate",
    severity="info",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="site",
    title="Nearly the same text on another page",
    means="has nearly the same text as a point of another page",
    many="have nearly the same text as a point of another page",
    measured=(
        "Texts of different pages are compared by the share of three-word sequences they have in common "
        "(Jaccard similarity). MinHash finds candidates; each pair is then compared exactly."
    ),
    cause="Pages repeat each other, or two versions of a page are indexed.",
    remedy="Keep one of the pages, or accept that they compete for the same ranks.",
    breaks={Aspect.COPIES},
    repair="copies",
)
