"""Chunks with more tokens than their embedding model reads, and pages that are one such chunk.

``one_per_page`` is about the chunker, not about a page: it needs two such pages, and half of the pages that are
longer than the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.embedders.tokens import RATIOS, TOKENIZER
from ragval_pipeline.validation.chunks.claims import Estimate, Relations, estimate
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.limits import Limit
from ragval_pipeline.validation.chunks.token_count_off import usual_ratios
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.thresholds import MOST

_MIN_PAGES = 2


@dataclass(frozen=True)
class Measured:
    """A chunk with its tokens and the limit that holds for it."""

    chunk: TextFacts
    tokens: Estimate
    limit: int
    source: str

    @property
    def over(self) -> bool:
        """Whether it is over the limit even at the lower end of the estimate."""
        return self.tokens.at_least > self.limit

    def details(self) -> dict[str, Any]:
        """Its tokens, as far as they are known."""
        found: dict[str, Any] = {"tokens": round(self.tokens.tokens), "limit": self.limit}
        if self.tokens.measured:
            return {**found, "embedded_share": round(self.limit / self.tokens.tokens, 4)}
        return {**found, "at_least": int(self.tokens.at_least), "at_most": round(self.tokens.at_most)}


@detector("chunk.over_model_limit", "chunk.one_per_page", needs=ChunkEvidence)
def find_over_limit(evidence: ChunkEvidence) -> list[Finding]:
    """Chunks over their model's limit, and pages that are one such chunk."""
    measured = measure_limits(evidence.counted, evidence.relations, evidence.limits.of)
    return limit_findings(measured, evidence.relations)


def measure_limits(
    counted: Iterable[TextFacts], relations: Relations, limit_of: Callable[[str | None], Limit | None]
) -> list[Measured]:
    """Chunks that have a limit; none where no limit is known or the model reads everything."""
    limits: dict[str | None, Limit | None] = {}
    measured = []
    for chunk in counted:
        if chunk.model not in limits:
            limits[chunk.model] = limit_of(chunk.model)
        limit = limits[chunk.model]
        if limit is not None and limit.tokens is not None:
            measured.append(Measured(chunk, estimate(chunk, relations), limit.tokens, limit.source))
    return measured


def limit_findings(measured: Sequence[Measured], relations: Relations) -> list[Finding]:
    """``chunk.over_model_limit``, with the share that is embedded where it was counted, and ``chunk.one_per_page``."""
    over = [entry for entry in measured if entry.over]
    if not over:
        return []
    limits = {entry.source: entry.limit for entry in reversed(over)}
    details: dict[str, Any] = {"limits": limits, "chunks": len(measured)}
    head = f"{len(over)} of {len(measured)} chunks have more tokens than the embedding model reads"
    if all(entry.tokens.measured for entry in measured):
        total = sum(entry.tokens.tokens for entry in measured)
        unread = sum(entry.tokens.tokens - entry.limit for entry in over)
        details |= {"tokens": round(total), "tokens_unread": round(unread), "unread_share": round(unread / total, 4)}
        # A believed claim is the ingestion's count, and the reader has to know whose figure it is.
        basis = "" if all(entry.chunk.exact is not None for entry in measured) else ", by the stored token counts"
        message = f"{head}: {unread / total:.0%} of all tokens are not searchable{basis}."
    else:
        about = sum(entry.tokens.tokens > entry.limit for entry in measured)
        at_most = sum(entry.tokens.at_most > entry.limit for entry in measured)
        scripts = sorted({entry.chunk.script for entry in measured})
        details |= {
            "about": about,
            "at_most": at_most,
            "tokenizer": TOKENIZER,
            "ratios": {script: list(RATIOS[script]) for script in scripts},
            "usual_ratio": usual_ratios(relations),
        }
        message = (
            f"{head}, by the lower end of an estimate; about {about} by its middle, up to {at_most} by its upper end. "
            "The model's own tokenizer is not on this machine. What lies beyond the limit is not searchable."
        )
    subjects = [
        replace(entry.chunk.ref.subject(**entry.details()), extent=1 - entry.limit / entry.tokens.tokens)
        for entry in over
    ]
    finding = make_finding("chunk.over_model_limit", subjects, details=details, message=message)
    return [*_one_per_page(measured), finding]


def _one_per_page(measured: Sequence[Measured]) -> list[Finding]:
    pages: dict[str, list[Measured]] = {}
    for entry in measured:
        if entry.chunk.ref.page_key is not None:
            pages.setdefault(entry.chunk.ref.page_key, []).append(entry)
    # A page that was ingested twice is still one chunk.
    distinct = [list({entry.chunk.digest: entry for entry in entries}.values()) for entries in pages.values()]
    long = [entries for entries in distinct if _is_long(entries)]
    whole = [entries[0] for entries in long if len(entries) == 1]
    if len(whole) < _MIN_PAGES or len(whole) < MOST * len(long):
        return []
    subjects = [
        Subject(
            name=entry.chunk.ref.page_url or str(entry.chunk.ref.page_key),
            page=entry.chunk.ref.page_key,
            details={**entry.details(), "point": entry.chunk.ref.point_id},
        )
        for entry in whole
    ]
    details = {"pages_over_limit": len(long), "pages": len(pages)}
    return [make_finding("chunk.one_per_page", subjects, details=details)]


def _is_long(entries: Sequence[Measured]) -> bool:
    return entries[0].over if len(entries) == 1 else sum(entry.tokens.tokens for entry in entries) > entries[0].limit
