"""The estimated cost of a run over this collection, from measured constants, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.check import Check, note, ok
from ragval_pipeline.reporting.numbers import show_seconds, show_spent
from ragval_pipeline.sources.embedders.models import PRICES_OF, price_of
from ragval_pipeline.sources.search.timing import BATCH, TIMINGS
from ragval_pipeline.sources.snapshot.embedded import embedded_of, template_of
from ragval_pipeline.sources.stores.qdrant.vectors import PAGE_SIZE
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.first_look.points import Look

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.cache import CachingEmbedder
    from ragval_pipeline.suite.queries.model import TestQuery


#: CPU seconds of an almost empty run: Python, Dagster and imports.
START_S = 6.0
#: CPU milliseconds to read a chunk into the snapshot (``benchmarks.scale --rows snapshot``).
READ_MS = 0.02
#: CPU milliseconds per chunk to compare it with its page, shared by all workers, and for the rest in one process:
#: vectors, structure, metadata, report (``benchmarks.defects_cost``).
SHARED_MS, CHUNK_MS = 0.7, 0.45
#: CPU milliseconds to parse a page, shared by all workers, to read it, and to search and judge a query
#: (``benchmarks.defects_cost``).
PARSED_MS, PAGE_MS, SEARCH_MS = 1.7, 0.3, 1.0
#: Peak memory (``benchmarks.defects_cost``, 469 MiB at 20,868 chunks, 1,291 at 1,001,490): MiB of a small run, KiB per
#: chunk, and MiB per worker.
RUN_MIB, CHUNK_KIB, WORKER_MIB = 460, 0.9, 350
#: Server seconds of one request: a page of points, or a batch of searches.
REQUEST_S = 0.02
#: Compressed size of a chunk in the snapshot: share of its text, and bytes besides the text.
TEXT_KEPT, BESIDE_TEXT = 0.45, 150
#: Characters per token, and tokens per query: a title with its heading, or a test query that was not counted.
TOKEN_CHARACTERS, QUESTION_TOKENS = 4, 12
#: Times that all ids are read: for the snapshot, and for changes at the end. Vectors are read once.
READS = 2
#: Average queries per page: its title and headings, as measured on documentation sites.
QUESTIONS_A_PAGE = 5
#: Searches of one test query beyond its repeats, on average.
DEEPER = 1
#: Queries, and stored points, searched for both approximately and exactly, if the collection has HNSW.
PROBED = 50


@dataclass(frozen=True)
class Size:
    """Size of what is validated.

    Attributes:
        points: Of the collection.
        pages: In scope; 0: not known.
        queries: Test queries.
        text_characters: Mean length of a chunk.
        query_tokens: Mean length of a test query.
        text_tokens: Mean length of a chunk; None: not counted.
    """

    points: int
    pages: int
    queries: int
    text_characters: float
    query_tokens: float = QUESTION_TOKENS
    text_tokens: float | None = None


@dataclass(frozen=True)
class Provider:
    """What is known about the embedder.

    Attributes:
        free: Whether it is free.
        batch: Texts per call; None: all at once.
        call_s: Measured seconds per call; 0: not known.
        text_s: Measured seconds per text, for local embedders.
    """

    free: bool = True
    batch: int | None = 96
    call_s: float = 0.0
    text_s: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a run.

    Attributes:
        cpu_s: CPU, without the embedder.
        seconds: Wall time, without the embedder.
        embedding_s: Of the embedder.
        memory_bytes: Peak of all processes together.
        requests: To Qdrant.
        calls: To the embedder, in a first run; a second one over unchanged queries only needs those of sample and
            latency.
        texts: In these calls.
        tokens: Of these texts.
        stored_bytes: In ``report_uri``, per run.
    """

    cpu_s: float
    seconds: float
    embedding_s: float
    memory_bytes: float
    requests: int
    calls: int
    texts: int
    tokens: float
    stored_bytes: float


def estimate(suite: Suite, size: Size, provider: Provider, *, local: bool = False, workers: int = 1) -> Estimate:
    """The estimate of a whole validation.

    An embedded Qdrant (``local``) is not waited for. ``workers`` parse pages and compare texts with them.
    """
    self_questions = min(size.pages, suite.retrieval.self_sample) * QUESTIONS_A_PAGE
    self_questions = min(self_questions, suite.retrieval.self_sample)
    probed = min(size.queries, PROBED)
    searches = size.queries * (suite.retrieval.repeats + DEEPER) + self_questions + 2 * (probed + PROBED)
    timed = 0 if suite.latency == "off" or not size.queries else max(TIMINGS, size.queries) + 1
    requests = (READS + 1) * math.ceil(size.points / PAGE_SIZE) + math.ceil(searches / suite.qdrant.batch) + timed
    shared = (size.points * SHARED_MS + size.pages * PARSED_MS) / 1000
    alone = START_S + (size.points * (READ_MS + CHUNK_MS) + size.pages * PAGE_MS + searches * SEARCH_MS) / 1000
    waiting = 0.0 if local else requests * REQUEST_S / suite.qdrant.concurrency
    calls, texts, tokens = _embedded(suite, size, provider, own=self_questions, probed=probed, timed=timed)
    return Estimate(
        cpu_s=alone + shared,
        seconds=alone + shared / workers + waiting,
        embedding_s=texts * provider.text_s if provider.free else calls * provider.call_s,
        memory_bytes=(RUN_MIB + size.points * CHUNK_KIB / 1024 + (workers if workers > 1 else 0) * WORKER_MIB) * 2**20,
        requests=requests,
        calls=calls,
        texts=texts,
        tokens=tokens,
        stored_bytes=size.points * (size.text_characters * TEXT_KEPT + BESIDE_TEXT),
    )


def _embedded(
    suite: Suite, size: Size, provider: Provider, *, own: int, probed: int, timed: int
) -> tuple[int, int, float]:
    """Calls, texts and tokens of the embedder."""
    from ragval_pipeline.validation.vectors.sample import PAID_SAMPLE

    wanted = suite.embedding.identity_sample
    documents = min(size.points, (size.points if provider.free else PAID_SAMPLE) if wanted is None else wanted)
    each = size.text_characters / TOKEN_CHARACTERS if size.text_tokens is None else size.text_tokens
    # Texts, tokens of each, and whether each is a separate call. A custom search embeds by itself.
    parts = [(documents, each, False)]
    if suite.retrieval.retriever is None:
        # Vectors of a paid provider are cached, so the same queries are not embedded again.
        again = probed if provider.free else 0
        asked = [(size.queries, False), (again, False), (timed, True), (min(timed, BATCH), False)]
        parts += [(texts, size.query_tokens, alone) for texts, alone in asked] + [(own, QUESTION_TOKENS, False)]
    return (
        sum(texts if alone else math.ceil(texts / (provider.batch or max(texts, 1))) for texts, _, alone in parts),
        sum(texts for texts, _, _ in parts),
        sum(texts * tokens for texts, tokens, _ in parts),
    )


#: Seconds from which advice on reducing the time is useful.
_LONG_S = 1800


def check_estimate(
    suite: Suite, queries: Sequence[TestQuery], look: Look, embedder: CachingEmbedder | None, *, pages: int
) -> Check:
    """Time, calls, tokens, money and storage of a whole validation.

    Args:
        suite: The resolved suite.
        queries: Its test queries.
        look: The first look at the collection.
        embedder: Has embedded some texts: its cost gives the time per call. None: it does not answer.
        pages: In scope; 0: not known.
    """
    from ragval_pipeline.sources.workers import POINTS_A_WORKER, usable_cpus

    size = _size(suite, queries, look, pages)
    spent = embedder.cost if embedder else None
    provider = Provider()
    if embedder and spent:
        each = (spent.elapsed_s / max(number, 1) for number in (spent.calls, spent.inputs))
        provider = Provider(embedder.free, embedder.batch_size, *each)
    wanted = suite.scale.workers
    workers = min(usable_cpus(), max(1, size.points // POINTS_A_WORKER)) if wanted == "auto" else wanted
    estimated = estimate(suite, size, provider, local=look.facts.local, workers=workers)
    total = estimated.seconds + estimated.embedding_s
    rows = [
        f"by rough estimate {_time(total)}",
        f"{estimated.requests:,} requests to Qdrant",
        f"{estimated.memory_bytes / 2**30:,.1f} GiB of memory at most",
        f"{'under 1' if estimated.stored_bytes < 1e6 else format(estimated.stored_bytes / 1e6, ',.0f')} MB kept",
        _embedding(suite, embedder, estimated),
    ]
    message = ", ".join(rows)
    over = _over_budget(suite, estimated, free=embedder.free) if embedder else ""
    if over:
        remedy = (
            "The run will stop there and exit with code 4. Raise the budget, or lower identity_sample and self_sample."
        )
        return note("a whole run", f"{message}: more than {over}", remedy)
    if total < _LONG_S:
        return ok("a whole run", message)
    return note(
        "a whole run",
        message,
        "See docs/how-to/scale-out.md for what to adjust: scale.workers, qdrant.concurrency, --only.",
    )


def _embedding(suite: Suite, embedder: CachingEmbedder | None, found: Estimate) -> str:
    if embedder is None:
        return "plus the time of the embedder, which does not respond"
    if embedder.free:
        return f"{found.texts:,} texts embedded on this machine, at no cost"
    price = price_of(embedder.provider, embedder.model, suite.embedding.base_url)
    usd = None if price is None else found.tokens * price / 1_000_000
    told = show_spent(found.calls, found.tokens, usd, PRICES_OF if price else None)
    return told if price is not None else f"{told} at an unknown price"


def _size(suite: Suite, queries: Sequence[TestQuery], look: Look, pages: int) -> Size:
    from ragval_pipeline.sources.embedders.tokens import count_tokens

    path, flavour, template = suite.payload.fields.get("text"), suite.payload.flavour, template_of(suite.payload)
    texts = [embedded_of(point.payload, path, flavour, template) for point in look.points]
    asked = list(dict.fromkeys(query.query_text for query in queries))
    return Size(
        points=look.facts.points_count,
        pages=pages,
        queries=len(asked),
        text_characters=fmean(map(len, texts)) if texts else 0.0,
        query_tokens=fmean(count_tokens(asked)) if asked else 0.0,
        text_tokens=fmean(count_tokens(texts)) if texts else 0.0,
    )


def _over_budget(suite: Suite, found: Estimate, *, free: bool) -> str:
    limits = {
        "budget.calls": (suite.budget.calls, found.calls),
        "budget.tokens": (suite.budget.tokens, 0 if free else found.tokens),
    }
    return " and ".join(
        f"{key} {limit:,}" for key, (limit, wanted) in limits.items() if limit is not None and wanted > limit
    )


def _time(seconds: float) -> str:
    return show_seconds(seconds) if seconds < 120 else f"{seconds / 60:,.0f} min"
