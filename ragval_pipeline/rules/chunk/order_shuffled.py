"""Chunk numbers out of page order."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """How far the numbers of a page's chunks are from its order.

    Attributes:
        out_of_order: Number of its chunks that are out of order.
        chunks: Number of those whose position is known.
    """

    out_of_order: int
    chunks: int

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"{self.out_of_order} of {self.chunks} out of order"


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
    details=Details,
)
