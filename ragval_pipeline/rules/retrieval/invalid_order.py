"""Hits in the wrong order."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="retrieval.invalid_order",
    severity="error",
    level="run",
    group="queries",
    subject_kind="query",
    action="setting",
    title="Hits in the wrong order",
    means="has hits out of order or scores out of range",
    many="have hits out of order or scores out of range",
    measured="The scores of each query's hits must be descending and within the range of the collection's distance.",
    cause="The retriever reorders or rescales its hits.",
    remedy="Return hits in descending order of the collection's own score.",
    breaks={Aspect.REACH, Aspect.SELECTION},
)
