"""Characters that nobody sees and every tokenizer reads, in text or headings: ``text.zero_width``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.store import filled

#: Characters that the cause names, the most frequent ones.
_SHOWN = 5  # shown


@detector("text.zero_width", needs=ChunkEvidence)
def find_zero_width(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points with such characters; a required text without anything to see is an empty field, and named as that."""
    total: Counter[str] = Counter()
    subjects = []
    for text in evidence.facts.texts("strays", "blank", where=filled("strays")):
        unnamed = text.blank and "text" in evidence.required
        strays = [stray for stray in text.strays if not (unnamed and stray.place == "text")]
        if strays:
            characters: Counter[str] = Counter()
            for stray in strays:
                characters[stray.character] += stray.count
            total += characters
            places = list(dict.fromkeys(stray.place for stray in strays))
            subject = text.ref.subject(characters=dict(sorted(characters.items())), places=places)
            # An empty heading explains nothing about a text.
            subjects.append(replace(subject, fields=("headings",) if places == ["headings"] else ()))
    if subjects:
        shown = ", ".join(f"{name} {count} times" for name, count in total.most_common(_SHOWN))
        cause = f"The extraction kept invisible characters: {shown}."
        yield make_finding("text.zero_width", subjects, details={"characters": dict(total)}, cause=cause)
