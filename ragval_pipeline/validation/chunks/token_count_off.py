"""Claimed token counts that are far from a recount.

Tokenizers differ, so a claim is measured by what the collection itself claims for such a text, by its tokens, words or
characters, whichever predict its claims best: it is off when it is more than twice that, or less than half, and by more
than the claims scatter. Where the collection has no steady way of counting, the bounds are what any tokenizer could
give.

The factor is 2 because tokenizers and ways to estimate differ by less, text by text, and what is miscounted on purpose
or by mistake (characters, words times four, bytes) differs by more. Measured on 200 chunks of which a tenth was claimed
wrongly: 1.5 and 2 times the tokens, and half of them, are never named, 2.5, 3 and 5 times, a third and a fifth always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ragval_pipeline.findings.aspects import Aspect
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.embedders.tokens import TOKENIZER
from ragval_pipeline.validation.chunks.claims import Relations, plausible_range
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.thresholds import MISCOUNTED, SPECIAL_TOKENS


@detector("chunk.token_count_off", needs=ChunkEvidence)
def find_off(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points whose claimed count is off."""
    counted, relations, subjects = evidence.counted, evidence.relations, []
    for chunk in counted:
        low, high = expected_range(chunk, relations)
        claimed = chunk.claimed
        if claimed is None or low <= claimed <= high:
            continue
        if min(abs(claimed - low * MISCOUNTED), abs(claimed - high / MISCOUNTED)) >= SPECIAL_TOKENS:
            ratio = round(claimed / max(chunk.tokens, 1), 2)
            subject = chunk.ref.subject(claimed=claimed, recounted=chunk.tokens, ratio=ratio)
            # A text that was cut has fewer tokens than were counted.
            subjects.append(subject if claimed > high else replace(subject, without=frozenset({Aspect.KEPT})))
    if not subjects:
        return
    details: dict[str, Any] = {"tokenizer": TOKENIZER, "usual_ratio": usual_ratios(relations)}
    yield make_finding("chunk.token_count_off", subjects, details=details, cause=_cause(counted, len(subjects)))


def expected_range(chunk: TextFacts, relations: Relations) -> tuple[float, float]:
    """Smallest and largest claim that is not off."""
    relation = relations.get(chunk.script)
    if relation is not None:
        return relation.allowed(chunk)
    low, high = plausible_range(chunk.script)
    return chunk.tokens * low, chunk.tokens * high


def usual_ratios(relations: Relations) -> dict[str, float]:
    """Claimed for each recounted token, by script, for the report."""
    return {script: round(relation.tokens, 3) for script, relation in relations.items()}


def _cause(counted: Iterable[TextFacts], off: int) -> str | None:
    """Says so when the counts are plainly counts of something else."""
    claims = [chunk for chunk in counted if chunk.claimed is not None]
    if off > len(claims) / 2:
        characters = sum(chunk.claimed == chunk.characters for chunk in claims)
        if characters > off / 2:
            return "The counts are characters, not tokens."
    return None
