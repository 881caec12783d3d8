"""Stored hashes that do not belong to the stored text: ``text.hash_mismatch``.

A hash that some form of the text gives is no accident: that text was not changed. But a hash of something else (the
page, the text before it was cut) gives the text's own where the two happen to be the same: hashes must therefore be
explained for a share of all points, and a hash that the chunks of a page share is the page's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.thresholds import FEWEST, FOLLOWED, MOST

if TYPE_CHECKING:
    import pyarrow as pa


@detector("text.hash_mismatch", needs=ChunkEvidence)
def find_mismatches(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points whose hash is of no form of their text, where those of other points are."""
    if not any(_has_unexplained(batch) for batch in evidence.facts.batches("chunks", ("stored_hash", "hashed_as"))):
        return
    texts = [text for text in evidence.facts.texts("digest", "stored_hash", "hashed_as") if text.stored_hash]
    explained = Counter(text.hashed_as for text in texts if text.hashed_as is not None)
    count = explained.total()
    if count < FOLLOWED * len(texts) or count < min(FEWEST, len(texts) - 1) or _are_of_pages(texts):
        return
    subjects = [text.ref.subject(stored=text.stored_hash) for text in texts if text.hashed_as is None]
    main, own = explained.most_common(1)[0]
    details = {"convention": main, "points": len(texts), "explained": own}
    cause = f"The text was changed after it was hashed; the other hashes are {main}."
    yield make_finding("text.hash_mismatch", subjects, details=details, cause=cause)


def _has_unexplained(batch: pa.RecordBatch) -> bool:
    import pyarrow.compute as pc

    stored = pc.greater(pc.binary_length(batch.column("stored_hash")), 0)
    return bool(pc.any(pc.and_(stored, pc.is_null(batch.column("hashed_as")))).as_py())


def _are_of_pages(texts: Sequence[TextFacts]) -> bool:
    pages: dict[str | None, list[TextFacts]] = {}
    for text in texts:
        pages.setdefault(text.page_key, []).append(text)
    pages.pop(None, None)
    several = [own for own in pages.values() if len({text.digest for text in own}) > 1]
    same = sum(len({text.stored_hash for text in own}) == 1 for own in several)
    return bool(several) and same > MOST * len(several)
