"""Text that was decoded with the wrong character set: ``text.mojibake``.

What stands so on the page itself is the author's, who writes about broken text: it was decoded as the page wants it. A
chunk that lost its page is still the lesson about broken text that it was, so that its words may stand on any page.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.store import filled


@detector("text.mojibake", needs=ChunkEvidence)
def find_mojibake(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points with such passages, without those of which a page shows every word as it is."""
    shown = {
        word
        for batch in evidence.facts.batches("pages", ("damaged",))
        for words in batch.column("damaged").to_pylist()
        for word in words
    }
    subjects = []
    for text in evidence.facts.texts("compared", "damaged", where=filled("damaged")):
        found = [
            passage
            for passage in text.damaged
            if text.compared or not passage.words or not shown.issuperset(passage.words)
        ]
        if found:
            subjects.append(text.ref.subject(passages=len(found), example=found[0].before, reads=found[0].after))
    if subjects:
        example = next((subject.details for subject in subjects if subject.details["reads"]), None)
        cause = f"“{example['example']}” should read “{example['reads']}”." if example else None
        yield make_finding("text.mojibake", subjects, cause=cause)
