"""Are queries embedded as queries?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.thresholds import NOISE

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder, InputType


@dataclass(frozen=True)
class QueryEmbedding:
    """How queries are embedded.

    Attributes:
        embedder: Cohere's models from version 3 on are known to tell queries from documents; any other is tried out.
        input_type: The suite's ``embedding.query_input_type``.
        text: What it is tried out with.
    """

    embedder: Embedder
    input_type: InputType
    text: str


@detector("embedder.input_type", needs=QueryEmbedding)
def find_input_type(asked: QueryEmbedding) -> Iterator[Finding]:
    """Queries that are embedded as documents by a model that tells them apart.

    Raises:
        SystemFailure: The embedder fails.
    """
    embedder, input_type = asked.embedder, asked.input_type
    if input_type == "search_query" or not (embedder.provider == "cohere" or _tells_apart(embedder, asked.text)):
        return
    details = {"query_input_type": input_type, "provider": embedder.provider, "model": embedder.model}
    message = f"Queries are embedded with input type {input_type}, and {embedder.model} embeds queries otherwise."
    yield make_finding("embedder.input_type", ["embedding.query_input_type"], details=details, message=message)


def _tells_apart(embedder: Embedder, text: str) -> bool:
    import numpy as np

    from ragval_pipeline.sources.embedders.cache import asked_anew

    with asked_anew(embedder):
        query, document = (
            embedder.embed([text], input_type=input_type).vectors[0].astype(np.float64)
            for input_type in ("search_query", "search_document")
        )
    lengths = float(np.linalg.norm(query) * np.linalg.norm(document))
    return lengths > 0 and float(query @ document) / lengths < 1 - NOISE
