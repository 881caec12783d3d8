"""What a validation will take, by arithmetic from measured constants, for ``ragval doctor``.

Orders of magnitude, to choose settings by before a run; the report of a run says what it really took.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragval_pipeline.sources.qdrant.vectors import PAGE_SIZE
from ragval_pipeline.suite.model import Suite

#: Seconds of CPU of a run over next to nothing: Python, Dagster and what they import.
START_S = 6.0
#: Milliseconds of CPU for all that is measured of a chunk (``benchmarks.defects_cost``), of a page and of a search.
CHUNK_MS, PAGE_MS, SEARCH_MS = 1.0, 4.0, 1.0
#: Seconds of one request besides the link: a server that reads a page of points, or answers a batch of searches.
REQUEST_S = 0.02
#: Share of its text that a chunk takes in the snapshot, compressed, and bytes beside the text.
TEXT_KEPT, BESIDE_TEXT = 0.45, 150
#: Tokens of a test query; characters of a token; texts a call of an embedding provider.
QUERY_TOKENS, TOKEN_CHARACTERS, TEXTS_A_CALL = 12, 4, 96
#: Times that all ids are read: the snapshot, and at the end whether they are still the same. Vectors are read once.
READS = 2
#: Searches of one page by its own title and headings, and of one test query beyond its repeats, on average.
SEARCHES_A_PAGE, DEEPER = 2, 1
#: Queries and stored points that are searched for both ways, when the collection has HNSW.
PROBED = 100
#: Texts of queries that latency times at most, and at least.
TIMED_MOST, TIMED_LEAST = 51, 21
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
    """

    points: int
    pages: int
    queries: int
    text_characters: float


@dataclass(frozen=True)
class Estimate:
    """What a run will take.

    Attributes:
        seconds: Of wall, with the embedder left out.
        cpu_s: Of CPU.
        requests: To Qdrant.
        embedding_calls: In a first run; a second one over unchanged texts makes those of latency only.
        tokens: Of these calls.
        stored_bytes: Below ``report_uri``, of one run.
    """

    seconds: float
    cpu_s: float
    requests: int
    embedding_calls: int
    tokens: int
    stored_bytes: int


def estimate(suite: Suite, size: Size, *, free: bool, local: bool = False) -> Estimate:
    """The estimate of a whole validation.

    Args:
        suite: The suite.
        size: What it is about.
        free: Whether its embedder costs nothing.
        local: Whether the collection is embedded, where each search is one call.
    """
    own_pages = min(size.pages, suite.retrieval.self_sample) * SEARCHES_A_PAGE
    searches = size.queries * (suite.retrieval.repeats + DEEPER) + own_pages + 2 * PROBED
    timed = 0 if suite.latency == "off" or not size.queries else min(TIMED_MOST, max(TIMED_LEAST, size.queries + 1))
    reads = (READS + 1) * math.ceil(size.points / PAGE_SIZE)
    batch = 1 if local else suite.qdrant.batch
    requests = reads + math.ceil(searches / batch) + timed
    wanted = suite.embedding.identity_sample
    documents = min(size.points, (size.points if free else PAID_SAMPLE) if wanted is None else wanted)
    questions = size.queries + own_pages
    calls = math.ceil(questions / TEXTS_A_CALL) + math.ceil(documents / TEXTS_A_CALL) + timed
    cpu = START_S + (size.points * CHUNK_MS + size.pages * PAGE_MS + searches * SEARCH_MS) / 1000
    waiting = requests * REQUEST_S / (1 if local else suite.qdrant.concurrency)
    return Estimate(
        seconds=cpu + waiting,
        cpu_s=cpu,
        requests=requests,
        embedding_calls=calls,
        tokens=round((questions + timed) * QUERY_TOKENS + documents * size.text_characters / TOKEN_CHARACTERS),
        stored_bytes=round(size.points * (size.text_characters * TEXT_KEPT + BESIDE_TEXT)),
    )
