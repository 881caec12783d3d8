"""Searches return what must be absent."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="absent.found",
    severity="error",
    level="subject",
    group="queries",
    subject_kind="entry",
    action="setting",
    title="Searches return what must be absent",
    means="that must be absent is returned by a search",
    many="that must be absent are returned by searches",
    measured=(
        "For each entry of absent, up to three searches are made: for the phrase itself and for the titles "
        "and headings of the points that hold it. It is listed if one of the top_k hits holds it."
    ),
    cause="Its points are in what is searched.",
    remedy="Delete its points from what the assistant searches.",
    reads={Aspect.ABSENCE},
)
