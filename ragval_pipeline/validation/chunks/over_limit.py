"""Chunks with more tokens than their embedding model reads, and pages that are one such chunk.

What lives here: ``chunk.over_model_limit`` and ``chunk.one_per_page``. What does not: where limits come from
(``limits``) and how tokens are estimated (``claims``).

``one_per_page`` is about the chunker, not about a page: it needs two such pages, and half of the pages that are
longer than the limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.embedders.tokens import TOKENIZER
from ragval_pipeline.validation.chunks.claims import Relations, estimate, margins
from ragval_pipeline.validation.chunks.limits import Limit
from ragval_pipeline.validation.chunks.recount import Counted
from ragval_pipeline.validation.chunks.token_count_off import usual_ratios

_MIN_PAGES = 2
_MIN_PAGE_SHARE = 0.5


@dataclass(frozen=True)
class Measured:
    """A chunk with its tokens and the limit that holds for it."""

    chunk: Counted
    tokens: float
    limit: int
    source: str
    over: bool


def measure_limits(
    counted: Iterable[Counted], relations: Relations, limit_of: Callable[[str | None], Limit | None]
) -> list[Measured]:
    """Chunks that have a limit; none where no limit is known or the model reads everything."""
    limits: dict[str | None, Limit | None] = {}
    measured = []
    for chunk in counted:
        if chunk.model not in limits:
            limits[chunk.model] = limit_of(chunk.model)
        limit = limits[chunk.model]
        if limit is not None and limit.tokens is not None:
            found = estimate(chunk, relations)
            over = found.surely > limit.tokens
            measured.append(Measured(chunk, found.tokens, limit.tokens, limit.source, over))
    return measured


def limit_findings(measured: Sequence[Measured], relations: Relations) -> list[Finding]:
    """``chunk.over_model_limit`` with the share that is embedded, and ``chunk.one_per_page``."""
    over = [entry for entry in measured if entry.over]
    if not over:
        return []
    subjects = [
        entry.chunk.ref.subject(
            tokens=round(entry.tokens), limit=entry.limit, embedded_share=round(entry.limit / entry.tokens, 4)
        )
        for entry in over
    ]
    total = sum(entry.tokens for entry in measured)
    unread = sum(entry.tokens - entry.limit for entry in over)
    sources = Counter(entry.source for entry in over)
    details = {
        "limits": {source: next(entry.limit for entry in over if entry.source == source) for source in sources},
        "chunks": len(measured),
        "tokens": round(total),
        "tokens_unread": round(unread),
        "unread_share": round(unread / total, 4),
        "tokenizer": TOKENIZER,
        "usual_ratio": usual_ratios(relations),
        "margin": margins(relations),
    }
    message = (
        f"{len(over)} of {len(measured)} chunks have more tokens than the embedding model reads: "
        f"{unread / total:.0%} of all tokens are not searchable."
    )
    finding = make_finding("chunk.over_model_limit", subjects, details=details, message=message)
    return [*_one_per_page(measured), finding]


def _one_per_page(measured: Sequence[Measured]) -> list[Finding]:
    pages: dict[str, list[Measured]] = {}
    for entry in measured:
        if entry.chunk.ref.page_key is not None:
            pages.setdefault(entry.chunk.ref.page_key, []).append(entry)
    # A page that was ingested twice is still one chunk.
    distinct = [list({entry.chunk.text: entry for entry in entries}.values()) for entries in pages.values()]
    long = [entries for entries in distinct if _is_long(entries)]
    whole = [entries[0] for entries in long if len(entries) == 1]
    if len(whole) < _MIN_PAGES or len(whole) < _MIN_PAGE_SHARE * len(long):
        return []
    subjects = [
        Subject(
            name=entry.chunk.ref.page_url or str(entry.chunk.ref.page_key),
            page=entry.chunk.ref.page_key,
            details={"tokens": round(entry.tokens), "limit": entry.limit, "point": entry.chunk.ref.point_id},
        )
        for entry in whole
    ]
    details = {"pages_over_limit": len(long), "pages": len(pages)}
    return [make_finding("chunk.one_per_page", subjects, details=details)]


def _is_long(entries: Sequence[Measured]) -> bool:
    return entries[0].over if len(entries) == 1 else sum(entry.tokens for entry in entries) > entries[0].limit
