"""Chunks that are too short to answer anything: ``chunk.too_small``.

A chunk is too small when fewer than 40 letters and digits are left of it once the lines that are its own headings are
taken away: about eight words, less than one sentence that could answer a question. It is the length from which
a passage of a page counts as content (``integrity.not_captured``). A required text with nothing to see is an empty
field, and named as that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.thresholds import PASSAGE_LETTERS

if TYPE_CHECKING:
    import pyarrow as pa


@detector("chunk.too_small", needs=ChunkEvidence)
def find_small(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points with such a text."""
    subjects = [
        text.ref.subject(letters=int(text.body), text=text.excerpt)
        for text in evidence.facts.texts("body", "blank", "excerpt", where=_is_small)
        if not (text.blank and "text" in evidence.required)
    ]
    if subjects:
        yield make_finding("chunk.too_small", subjects, details={"min_letters": PASSAGE_LETTERS})


def _is_small(batch: pa.RecordBatch) -> pa.BooleanArray:
    import pyarrow.compute as pc

    return pc.less(batch.column("body"), PASSAGE_LETTERS)
