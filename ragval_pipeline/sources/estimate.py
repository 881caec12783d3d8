"""What a validation will take, by arithmetic from measured constants: for ``ragval doctor`` and the page on scale-out.

Orders of magnitude, to choose settings by before a run; the report of a run says what it really took.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragval_pipeline.sources.search.timing import BATCH, TIMINGS
from ragval_pipeline.sources.stores.qdrant.vectors import PAGE_SIZE
from ragval_pipeline.suite.model import Suite

#: Seconds of CPU of a run over next to nothing: Python, Dagster and what they import.
START_S = 6.0
#: Milliseconds of CPU to read a chunk into the snapshot (``benchmarks.scale --rows snapshot``).
READ_MS = 0.02
#: Milliseconds of CPU to compare a chunk with its page, which all workers share, and for what one process does with it
#: afterwards: vectors, structure, metadata, report (``benchmarks.defects_cost``).
SHARED_MS, CHUNK_MS = 0.38, 0.42
#: Milliseconds of CPU to read a page, and to search and judge an answer (``benchmarks.defects_cost``).
PAGE_MS, SEARCH_MS = 1.2, 1.0
#: Memory at the peak (``benchmarks.defects_cost``, 584 MiB at 81,246 chunks, 771 at 202,002): MiB of a run whose
#: bounded buffers are full, KiB more for each chunk, and MiB of each worker.
RUN_MIB, CHUNK_KIB, WORKER_MIB = 580, 2, 350
#: Seconds of one request besides the link: a server that reads a page of points, or answers a batch of searches.
REQUEST_S = 0.02
#: Share of its text that a chunk takes in the snapshot, compressed, and bytes beside the text.
TEXT_KEPT, BESIDE_TEXT = 0.45, 150
#: Characters of a token, and tokens of a question: a title with its heading, or a test query that nobody counted.
TOKEN_CHARACTERS, QUESTION_TOKENS = 4, 12
#: Times that all ids are read: the snapshot, and at the end whether they are still the same. Vectors are read once.
READS = 2
#: Questions that a page gives on average: its title and headings, as on the documentation sites that were tried.
QUESTIONS_A_PAGE = 5
#: Searches of one test query beyond its repeats, on average.
DEEPER = 1
#: Queries, and stored points, that are searched for both ways, when the collection has HNSW.
PROBED = 50
#: Points that are re-embedded of a paid provider's, unless the suite says otherwise.
PAID_SAMPLE = 200


@dataclass(frozen=True)
class Size:
    """What is validated.

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
    """What is known of the embedder.

    Attributes:
        free: Whether it costs nothing.
        batch: Texts of a call; None: all at once.
        call_s: Seconds of a call, as measured; 0: not known.
        text_s: Seconds of a text, as measured, where texts are embedded on this machine.
    """

    free: bool = True
    batch: int | None = 96
    call_s: float = 0.0
    text_s: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """What a run will take.

    Attributes:
        cpu_s: Of CPU, with the embedder left out.
        seconds: Of wall, with the embedder left out.
        embedding_s: Of the embedder.
        memory_bytes: Of all processes together, at most.
        requests: To Qdrant.
        calls: To the embedder, in a first run; in a second one over unchanged queries those of the sample and of
            latency only.
        texts: In these calls.
        tokens: Of these texts.
        stored_bytes: Below ``report_uri``, of one run.
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

    Args:
        suite: The suite.
        size: What it is about.
        provider: Who embeds.
        local: Whether the collection is embedded, where each search is one call.
        workers: Processes that compare texts with their pages.
    """
    own = min(size.pages, suite.retrieval.self_sample) * QUESTIONS_A_PAGE
    own = min(own, suite.retrieval.self_sample)
    probed = min(size.queries, PROBED)
    searches = size.queries * (suite.retrieval.repeats + DEEPER) + own + 2 * (probed + PROBED)
    timed = 0 if suite.latency == "off" or not size.queries else max(TIMINGS, size.queries) + 1
    batch = 1 if local else suite.qdrant.batch
    requests = (READS + 1) * math.ceil(size.points / PAGE_SIZE) + math.ceil(searches / batch) + timed
    shared = size.points * SHARED_MS / 1000
    alone = START_S + (size.points * (READ_MS + CHUNK_MS) + size.pages * PAGE_MS + searches * SEARCH_MS) / 1000
    waiting = requests * REQUEST_S / (1 if local else suite.qdrant.concurrency)
    calls, texts, tokens = _embedded(suite, size, provider, own=own, probed=probed, timed=timed)
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
    wanted = suite.embedding.identity_sample
    documents = min(size.points, (size.points if provider.free else PAID_SAMPLE) if wanted is None else wanted)
    each = size.text_characters / TOKEN_CHARACTERS if size.text_tokens is None else size.text_tokens
    # Texts, tokens of each, and whether each is a call of its own. A search of one's own embeds by itself.
    parts = [(documents, each, False)]
    if suite.retrieval.retriever is None:
        # What a paid provider gave is kept, so that the same queries are not asked for again.
        again = probed if provider.free else 0
        asked = [(size.queries, False), (again, False), (timed, True), (min(timed, BATCH), False)]
        parts += [(texts, size.query_tokens, alone) for texts, alone in asked] + [(own, QUESTION_TOKENS, False)]
    return (
        sum(texts if alone else math.ceil(texts / (provider.batch or max(texts, 1))) for texts, _, alone in parts),
        sum(texts for texts, _, _ in parts),
        sum(texts * tokens for texts, tokens, _ in parts),
    )
