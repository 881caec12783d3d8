"""The same text, blanks and zero-width characters folded, under several points: ``chunk.duplicate_text``.

Where pages were read, a text that they have as often themselves is no duplicate: each point stands at its own place.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector

_SHOWN = 20  # shown


@detector("chunk.duplicate_text", needs=ChunkEvidence)
def find_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Every point of each group; the details name the others."""
    groups = evidence.same_texts.stored.values()
    subjects = []
    for group in groups:
        ids = [ref.point_id for ref in group]
        for ref in group:
            others = [other for other in ids[: _SHOWN + 1] if other != ref.point_id][:_SHOWN]
            subjects.append(ref.subject(others=others, copies=len(ids)))
    if subjects:
        held = "the same text" if len(groups) == 1 else f"{len(groups)} texts: each text stands in several points"
        message = f"{len(subjects)} points hold {held}."
        details = {"groups": len(groups), "superfluous": len(subjects) - len(groups)}
        yield make_finding("chunk.duplicate_text", subjects, details=details, message=message)
