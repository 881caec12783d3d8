"""Sparse vectors that do not fit their text."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="sparse.text_mismatch",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Sparse vectors that do not fit their text",
    means="has a sparse vector that does not fit its text",
    many="have a sparse vector that does not fit their text",
    measured=(
        "The sparse vectors of the stored texts are computed again, and the cosine and the lengths are "
        "compared: with the function in retrieval.sparse.model, or with fastembed's BM25 if the numbers are those of "
        "BM25 and fastembed is installed. Its language is found out, and words that most vectors of texts "
        "with them lack count as stop words."
    ),
    cause=(
        "The text was changed and its sparse vector was not computed again, or the vectors of points got out of step."
    ),
    remedy="Compute the sparse vectors of these points again.",
    reads={Aspect.FIELD, Aspect.TEXT, Aspect.KEPT},
    fields=("text",),
)
