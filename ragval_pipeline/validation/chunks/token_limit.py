"""Chunks over their model's limit, pages that are one such chunk, and stored counts far from a recount."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.one_per_page import RULE as ONE_PER_PAGE
from ragval_pipeline.rules.chunk.over_model_limit import RULE as OVER_MODEL_LIMIT
from ragval_pipeline.rules.chunk.over_model_limit import Details as OverLimit
from ragval_pipeline.rules.chunk.token_count_off import RULE as TOKEN_COUNT_OFF
from ragval_pipeline.rules.chunk.token_count_off import Details as Off
from ragval_pipeline.rules.details import written
from ragval_pipeline.sources.arrow import numbers_of, without_nulls
from ragval_pipeline.sources.embedders.tokens import RATIOS, TOKENIZER
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.chunks.columns import Columns
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.token_counts import (
    Estimate,
    Limit,
    Relations,
    characters_claimed,
    estimate,
    plausible_range,
)
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.thresholds import MISCOUNTED, MOST, SPECIAL_TOKENS

if TYPE_CHECKING:
    from ragval_pipeline.validation.chunks.columns import Counts, Mask


@detector(TOKEN_COUNT_OFF, needs=ChunkEvidence)
def find_off(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points whose stored count is off: by its size, or because it is a character count like most."""
    texts, relations = evidence.texts, evidence.relations
    low, high = expected_range(texts, relations)
    stored = texts.counts("claimed")
    beyond = (stored < low) | (stored > high)
    apart = np.minimum(abs(stored - low * MISCOUNTED), abs(stored - high / MISCOUNTED))
    characters = characters_claimed(texts)
    subjects = []
    for row in np.flatnonzero((beyond & (apart >= SPECIAL_TOKENS)) | characters).tolist():
        claimed, tokens = texts.value("claimed", row), texts.value("tokens", row)
        ratio = round(claimed / max(tokens, 1), 2)
        subject = texts.ref(row).subject(Off(claimed, tokens, ratio))
        # A truncated text has fewer tokens than were counted.
        whole = characters[row] or claimed > high[row]
        kept = frozenset() if whole else frozenset({Aspect.KEPT})
        surplus = float(claimed * MISCOUNTED / high[row] - 1) if high[row] else None
        subjects.append(replace(subject, without=kept, surplus=surplus if whole else None))
    if not subjects:
        return
    details: dict[str, Any] = {"tokenizer": TOKENIZER, "usual_ratio": usual_ratios(relations)}
    cause = "The counts are character counts, not token counts." if characters.any() else None
    yield make_finding(TOKEN_COUNT_OFF.code, subjects, details=details, cause=cause)


def expected_range(texts: Columns, relations: Relations) -> tuple[Counts, Counts]:
    """Range of acceptable stored counts of each text."""
    least, most = np.empty(len(texts)), np.empty(len(texts))
    for script, rows in texts.by_script().items():
        own, relation, (low, high) = texts.some(rows), relations.get(script), plausible_range(script)
        least[rows], most[rows] = (
            relation.allowed(own) if relation else (own.counts("tokens") * low, own.counts("tokens") * high)
        )
    return least, most


def usual_ratios(relations: Relations) -> dict[str, float]:
    """Stored count per recounted token, by script, for the report."""
    return {script: round(relation.tokens, 3) for script, relation in relations.items()}


@dataclass(frozen=True)
class Measured:
    """The chunks with a limit, with their token counts.

    Attributes:
        texts: The chunks.
        tokens: Token count of each.
        limit: Limit of each.
        sources: Source of each limit.
    """

    texts: Columns
    tokens: Estimate
    limit: Counts
    sources: Sequence[str]

    @property
    def over(self) -> Mask:
        """Which exceed the limit even at the lower end of the estimate."""
        over: Mask = self.tokens.at_least > self.limit
        return over

    def details(self, row: int, point: str | None = None) -> OverLimit:
        """The details of one chunk's tokens."""
        tokens, limit = float(self.tokens.tokens[row]), int(self.limit[row])
        if self.tokens.measured[row]:
            return OverLimit(round(tokens), limit, round(limit / tokens, 4), point=point)
        least, most = int(self.tokens.at_least[row]), round(float(self.tokens.at_most[row]))
        return OverLimit(round(tokens), limit, at_least=least, at_most=most, point=point)

    def unread(self, row: int) -> float:
        """The share of a chunk over the limit that the model does not read, by the middle of an estimate."""
        return float(1 - self.limit[row] / self.tokens.tokens[row])


@detector(OVER_MODEL_LIMIT, ONE_PER_PAGE, needs=ChunkEvidence)
def find_over_limit(evidence: ChunkEvidence) -> list[Finding]:
    """Chunks over their model's limit, and pages that are one such chunk."""
    measured = measure_limits(evidence.texts, evidence.relations, evidence.limits.of)
    return limit_findings(measured, evidence.relations)


def measure_limits(texts: Columns, relations: Relations, limit_of: Callable[[str | None], Limit | None]) -> Measured:
    """Chunks with a limit; none if no limit is known or the model has none."""
    models, codes = texts.codes("model")
    limits = [limit_of(model) for model in models]
    tokens = np.array([np.nan if limit is None or limit.tokens is None else limit.tokens for limit in limits])
    rows = np.flatnonzero(~np.isnan(tokens[codes]))
    limited, codes = texts.some(rows), codes[rows]
    sources = ["" if limit is None else limit.source for limit in limits]
    return Measured(limited, estimate(limited, relations), tokens[codes], [sources[code] for code in codes.tolist()])


def limit_findings(measured: Measured, relations: Relations) -> list[Finding]:
    """``chunk.over_model_limit``, with the embedded share if counted, and ``chunk.one_per_page``."""
    texts, tokens, limit = measured.texts, measured.tokens, measured.limit
    over = np.flatnonzero(measured.over)
    if not len(over):
        return []
    limits = {measured.sources[row]: int(limit[row]) for row in over[::-1].tolist()}
    details: dict[str, Any] = {"limits": limits, "chunks": len(texts)}
    verb = "has" if len(over) == 1 else "have"
    head = f"{len(over):,} of {len(texts):,} chunks {verb} more tokens than the embedding model reads"
    if tokens.measured.all():
        total = float(tokens.tokens.sum())
        unread = float((tokens.tokens - limit)[over].sum())
        details |= {"tokens": round(total), "tokens_unread": round(unread), "unread_share": round(unread / total, 4)}
        # A stored count is the ingestion's figure, which readers must know.
        basis = ", by the stored token counts" if np.isnan(texts.counts("exact")).any() else ""
        message = f"{head}: {percent(unread / total)} of all tokens are not searchable{basis}."
    else:
        about, at_most = int((tokens.tokens > limit).sum()), int((tokens.at_most > limit).sum())
        details |= {
            "about": about,
            "at_most": at_most,
            "tokenizer": TOKENIZER,
            "ratios": {script: list(RATIOS[script]) for script in sorted(texts.by_script())},
            "usual_ratio": usual_ratios(relations),
        }
        message = (
            f"{head}, by the lower end of an estimate; about {about} by its middle, up to {at_most} by its upper end. "
            "The model's own tokenizer is not installed on this machine. Text beyond the limit is not searchable."
        )
    subjects = [
        replace(texts.ref(row).subject(measured.details(row)), extent=measured.unread(row)) for row in over.tolist()
    ]
    finding = make_finding(OVER_MODEL_LIMIT.code, subjects, details=details, message=message)
    return [*_one_per_page(measured), finding]


def _one_per_page(measured: Measured) -> list[Finding]:
    """Pages that are one chunk over the limit, if they are most of the pages with more tokens than it."""
    names, page = measured.texts.codes("page_key")
    digest = numbers_of(without_nulls(measured.texts.table.column("digest"), 0))
    rows = np.flatnonzero(page < len(names) - 1)
    pages = len(np.unique(page[rows]))
    # A page that was ingested twice is still one chunk.
    rows = rows[np.lexsort((rows, digest[rows], page[rows]))]
    last = np.ones(len(rows), dtype=bool)
    last[:-1] = (np.diff(page[rows]) != 0) | (digest[rows][1:] != digest[rows][:-1])
    rows = rows[last]
    of, tokens = page[rows], measured.tokens.tokens
    chunks, total = (np.bincount(of, weights, minlength=len(names)) for weights in (None, tokens[rows]))
    single = rows[(chunks[of] == 1) & measured.over[rows]]
    limit = np.zeros(len(names))
    limit[of] = measured.limit[rows]
    long = len(single) + int(((chunks > 1) & (total > limit)).sum())
    # A single page is a long chunk, not a way of chunking.
    if len(single) < 2 or len(single) < MOST * long:
        return []
    subjects = [_page_of(measured, row) for row in sorted(single.tolist())]
    counted = measured.tokens.tokens[single]
    unread = 1 - float(measured.limit[single].sum() / counted.sum())
    about = "" if measured.tokens.measured[single].all() else "about "
    message = (
        f"{plural(len(single), 'page')} are longer than the model's limit but stored as one chunk each: the model does "
        f"not read {about}{percent(unread)} of their tokens."
    )
    details = {"pages_over_limit": long, "pages": pages, "unread_share": round(unread, 4)}
    return [make_finding(ONE_PER_PAGE.code, subjects, details=details, message=message)]


def _page_of(measured: Measured, row: int) -> Subject:
    """The page of a chunk that is its only one."""
    ref = measured.texts.ref(row)
    details = written(measured.details(row, ref.point_id))
    name = ref.page_url or str(ref.page_key)
    return Subject(name=name, page=ref.page_key, details=details, extent=measured.unread(row))
