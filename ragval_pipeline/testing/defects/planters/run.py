"""Defects of the run itself: an embedder that refuses, a check that crashes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.testing.defects.services import PassingEmbedder, Service

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders import Embedder, EmbeddingBatch, InputType

_STATUS = "HTTP 401"


@defect("embedder.unreachable", kind="service", describe="Makes the embedding provider refuse the key with a 401.")
def embedder_refuses(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.services.append(Service(embedder=_Refusing))
    return Planted("embedder.unreachable", frozenset({_STATUS}))


@defect(
    "check.crashed",
    kind="service",
    describe="Makes the check of the queries end in an exception that nobody expected.",
)
def check_crashes(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    texts = frozenset(str(query["query_text"]) for query in corpus.queries)
    corpus.services.append(Service(embedder=lambda inner: _Crashing(inner, texts)))
    return Planted("check.crashed", frozenset({"query_validation_results"}))


class _Refusing(PassingEmbedder):
    """Refuses every call."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Never answers."""
        raise SystemFailure(
            "the provider answered HTTP 401: invalid api token",
            code="embedder.unreachable",
            system="embedder",
            subject=_STATUS,
            remedy="Check embedding.api_key.",
            details={"provider": self.inner.provider, "simulated": True},
        )


class _Crashing(PassingEmbedder):
    """Crashes when all test queries are embedded in one go, as only the check of the queries does."""

    def __init__(self, inner: Embedder, texts: frozenset[str]) -> None:
        super().__init__(inner)
        self._texts = texts

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embeds everything but the test queries."""
        if self._texts <= set(texts):
            raise ZeroDivisionError("planted by the demo")
        return self.inner.embed(texts, input_type=input_type)
