"""Chunk numbers out of page order."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="chunk.order_shuffled",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="page",
    action="reingest",
    title="Chunk numbers out of page order",
    means="has chunk numbers that do not follow its order",
    many="have chunk numbers that do not follow their order",
    measured="Each chunk is located on its page, and its position is compared with its chunk number.",
    cause="The chunks were numbered in another order: by parallel workers, from a set, or sorted by text.",
    remedy="Number the chunks of a page in page order and re-ingest these URLs. Delete old points that this leaves.",
    reads={Aspect.FIELD, Aspect.POSITION, Aspect.CURRENT},
    fields=("source_url", "chunk_index"),
)
