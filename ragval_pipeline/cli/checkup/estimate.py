"""What a run over this collection will take, before it is started and anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.check import Check, note, ok
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.reporting.numbers import show_seconds, show_spent
from ragval_pipeline.sources.embedders.models import PRICES_OF, price_of
from ragval_pipeline.sources.estimate import Estimate, Provider, Size, estimate
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders import CachingEmbedder

#: Seconds from which a person may want to know what to turn.
_LONG_S = 1800


def check_estimate(suite: Suite, look: Look, embedder: CachingEmbedder | None, *, pages: int) -> Check:
    """Time, calls, tokens, money and storage of a whole validation.

    Args:
        suite: The resolved suite.
        look: The collection at first sight.
        embedder: Has embedded some texts: its cost tells how long a call takes. None: it does not answer.
        pages: In scope; 0: not known.
    """
    from ragval_pipeline.validation.facts.workers import POINTS_A_WORKER, usable_cpus

    size = _size(suite, look, pages)
    spent = embedder.cost if embedder else None
    provider = Provider()
    if embedder and spent:
        each = (spent.elapsed_s / max(number, 1) for number in (spent.calls, spent.inputs))
        provider = Provider(embedder.free, embedder.batch_size, *each)
    wanted = suite.scale.workers
    workers = min(usable_cpus(), max(1, size.points // POINTS_A_WORKER)) if wanted == "auto" else wanted
    found = estimate(suite, size, provider, local=look.facts.local, workers=workers)
    total = found.seconds + found.embedding_s
    told = [
        f"by rough estimate {_time(total)}",
        f"{found.requests:,} requests to Qdrant",
        f"{found.memory_bytes / 2**30:,.1f} GiB of memory at most",
        f"{found.stored_bytes / 1e6:,.0f} MB kept",
        _embedding(suite, embedder, found),
    ]
    message = ", ".join(told)
    over = _over_budget(suite, found) if provider.free is False else ""
    if over:
        remedy = "The run will stop there and end with 4: raise it, or lower identity_sample and self_sample."
        return note("a whole run", f"{message}: more than {over}", remedy)
    if total < _LONG_S:
        return ok("a whole run", message)
    return note(
        "a whole run", message, "docs/how-to/scale-out.md says what to turn: scale.workers, qdrant.concurrency, --only."
    )


def _embedding(suite: Suite, embedder: CachingEmbedder | None, found: Estimate) -> str:
    if embedder is None:
        return "and what the embedder takes, which does not answer"
    if embedder.free:
        return f"{found.texts:,} texts embedded on this machine, nothing is paid"
    price = price_of(embedder.provider, embedder.model, suite.embedding.base_url)
    usd = None if price is None else found.tokens * price / 1_000_000
    told = show_spent(found.calls, found.tokens, usd, PRICES_OF if price else None)
    return told if price is not None else f"{told} at a price that is not known"


def _size(suite: Suite, look: Look, pages: int) -> Size:
    from ragval_pipeline.sources.embedders.tokens import count_tokens

    path, flavour = suite.payload.fields.get("text"), suite.payload.flavour
    texts = [embedded_of(point.payload, path, flavour) for point in look.points]
    queries = _queries(suite)
    return Size(
        points=look.facts.points_count,
        pages=pages,
        queries=len(queries),
        text_characters=_mean([len(text) for text in texts]),
        query_tokens=_mean(count_tokens(queries)),
        text_tokens=_mean(count_tokens(texts)),
    )


def _queries(suite: Suite) -> list[str]:
    from ragval_pipeline.suite.queries.load import load_queries

    try:
        return list(dict.fromkeys(query.query_text for query in load_queries(suite)))
    except SuiteError:
        return []  # named by the check of the queries


def _over_budget(suite: Suite, found: Estimate) -> str:
    limits = {"budget.calls": (suite.budget.calls, found.calls), "budget.tokens": (suite.budget.tokens, found.tokens)}
    return " and ".join(
        f"{key} {limit:,}" for key, (limit, wanted) in limits.items() if limit is not None and wanted > limit
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _time(seconds: float) -> str:
    return show_seconds(seconds) if seconds < 120 else f"{seconds / 60:,.0f} min"
