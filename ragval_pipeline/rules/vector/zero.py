"""Vectors of zeros."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="vector.zero",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors of zeros",
    means="has a vector of zeros",
    many="have a vector of zeros",
    measured="The length of every stored vector is computed.",
    cause="The embedding failed and zeros were stored instead.",
    remedy="Re-embed these points.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.FIELD},
    fields=("text",),
    lowers=("embedding_match",),
    repair="embed",
)
