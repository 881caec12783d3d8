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

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.aspects import Aspect
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.embedders.tokens import TOKENIZER
from ragval_pipeline.validation.chunks.claims import Relations, plausible_range
from ragval_pipeline.validation.chunks.columns import Columns
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.thresholds import MISCOUNTED, SPECIAL_TOKENS

if TYPE_CHECKING:
    from ragval_pipeline.validation.chunks.columns import Counts


@detector("chunk.token_count_off", needs=ChunkEvidence)
def find_off(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points whose claimed count is off."""
    import numpy as np

    texts, relations = evidence.texts, evidence.relations
    low, high = expected_range(texts, relations)
    beyond = (texts.claimed < low) | (texts.claimed > high)
    apart = np.minimum(abs(texts.claimed - low * MISCOUNTED), abs(texts.claimed - high / MISCOUNTED))
    subjects = []
    for row in np.flatnonzero(beyond & (apart >= SPECIAL_TOKENS)).tolist():
        claimed, tokens = texts.value("claimed", row), texts.value("tokens", row)
        ratio = round(claimed / max(tokens, 1), 2)
        subject = texts.ref(row).subject(claimed=claimed, recounted=tokens, ratio=ratio)
        # A text that was cut has fewer tokens than were counted.
        subjects.append(subject if claimed > high[row] else replace(subject, without=frozenset({Aspect.KEPT})))
    if not subjects:
        return
    details: dict[str, Any] = {"tokenizer": TOKENIZER, "usual_ratio": usual_ratios(relations)}
    yield make_finding("chunk.token_count_off", subjects, details=details, cause=_cause(texts, len(subjects)))


def expected_range(texts: Columns, relations: Relations) -> tuple[Counts, Counts]:
    """Smallest and largest claim of each text that is not off."""
    import numpy as np

    least, most = np.empty(len(texts)), np.empty(len(texts))
    for script, rows in texts.by_script().items():
        own, relation, (low, high) = texts.some(rows), relations.get(script), plausible_range(script)
        least[rows], most[rows] = relation.allowed(own) if relation else (own.tokens * low, own.tokens * high)
    return least, most


def usual_ratios(relations: Relations) -> dict[str, float]:
    """Claimed for each recounted token, by script, for the report."""
    return {script: round(relation.tokens, 3) for script, relation in relations.items()}


def _cause(texts: Columns, off: int) -> str | None:
    """Says so when the counts are plainly counts of something else."""
    if off > (texts.claimed > 0).sum() / 2 and (texts.claimed == texts.characters).sum() > off / 2:
        return "The counts are characters, not tokens."
    return None
