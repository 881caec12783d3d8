"""Embedding stored texts and queries, checked against the collection's dimension.

The provider may refuse some queries: Cohere refuses a whole call if one of its queries exceeds the model's limit,
unless the suite lets it truncate them. One refused text must not fail all others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.query.failed import RULE as QUERY_FAILED
from ragval_pipeline.rules.vector.dimension import RULE as VECTOR_DIMENSION
from ragval_pipeline.sources.embedders.base import Embedder, EmbeddingBatch, InputType, malformed
from ragval_pipeline.sources.embedders.models import dimension_remedy
from ragval_pipeline.sources.embedders.tokens import fewest_tokens
from ragval_pipeline.sources.stores.qdrant.coding import learn_coding
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.text.printing import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.stores.qdrant.protocol import Reader


class ZeroVectorError(NotMeasurableError):
    """A text was embedded to a zero vector, which cannot be searched with."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(
            f"{embedder.model} returns a vector of zeros for it, which cannot be used for a search",
            code=QUERY_FAILED.code,
            subject=embedder.model,
            remedy="Reword the query in words that the model knows, or use a model for the query's language.",
        )


Embed = Callable[[Sequence[str], InputType], EmbeddingBatch]

#: Number of different texts that cannot all have the same vector; two may, e.g. the same words in another order.
_ALIKE = 3
#: Statuses with which a provider refuses the content of a call, rather than the caller or the time.
_REFUSING = frozenset({400, 413, 422})


def embed_like(embedder: Embedder, vector: VectorFacts, *, ahead: bool = True) -> Embed:
    """A function that embeds texts and raises if its vectors do not fit the collection.

    ``ahead``: without a call, if the dimension is already known.

    Returns:
        A function of texts and input type that returns a batch with the collection's dimension and in its numbers, or
        raises ``NotMeasurableError`` (``vector.dimension``).
    """

    def embed(texts: Sequence[str], input_type: InputType) -> EmbeddingBatch:
        if ahead and embedder.dimension is not None and embedder.dimension != vector.size:
            raise _dimension_mismatch(vector, embedder.dimension, embedder)
        batch = embedder.embed(list(texts), input_type=input_type)
        if texts and batch.vectors.shape[1] != vector.size:
            raise _dimension_mismatch(vector, int(batch.vectors.shape[1]), embedder)
        if texts and vector.coding is not None:
            return replace(batch, vectors=vector.coding.coded(batch.vectors))
        return batch

    return embed


def with_coding(vector: VectorFacts, reader: Reader, texts: Mapping[str, str], embedder: Embedder) -> VectorFacts:
    """The facts of a coded vector with how its numbers come from the model's, as far as some points tell.

    Args:
        vector: The vector.
        reader: Reads the stored vectors.
        texts: Ids of points to the texts that their vectors were made from.
        embedder: Embeds these.

    Raises:
        SystemFailure: Qdrant or the embedder fails.
        NotMeasurableError: As ``embed_like``.
    """
    batches = [batch for batch in reader.vectors(list(texts)) if batch.ids]
    if not batches:
        return vector
    sent = [texts[name] for batch in batches for name in batch.ids]
    given = embed_like(embedder, vector)(sent, "search_document").vectors
    coding = learn_coding(np.concatenate([batch.matrix for batch in batches]), given)
    return vector.model_copy(update={"coding": coding})


@dataclass
class EmbeddedTexts:
    """Vectors of the embedded texts, and reasons for the others.

    Attributes:
        vectors: By text, shape (dimension,).
        refused: By text, the provider's reason in one line, real or expected.
        elapsed_s: Seconds spent in successful calls.
    """

    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    elapsed_s: float = 0.0


def embed_each(embedder: Embedder, vector: VectorFacts, texts: Sequence[str], input_type: InputType) -> EmbeddedTexts:
    """Embed every text that the provider accepts.

    Texts that are certainly too long are not sent. If a call is refused, the shortest text is tried alone: if that is
    refused too, the call itself is wrong; else the refused texts are found by bisection.

    Raises:
        SystemFailure: The embedder fails, refuses every text that was sent, or embeds all of them alike.
        NotMeasurableError: ``vector.dimension``, as ``embed_like``.
    """
    embedded = EmbeddedTexts(refused=too_long(embedder, texts, input_type))
    # A provider that refuses the key says so whatever its dimension.
    embed = embed_like(embedder, vector, ahead=False)

    def embed_all(some: Sequence[str]) -> None:
        batch = embed(some, input_type)
        embedded.elapsed_s += batch.elapsed_s
        zeros = str(ZeroVectorError(embedder))
        for text, vector_of_text in zip(some, batch.vectors, strict=True):
            if vector_of_text.any():
                embedded.vectors[text] = vector_of_text
            else:
                embedded.refused[text] = zeros

    def halve(some: Sequence[str]) -> None:
        try:
            embed_all(some)
        except SystemFailure as failure:
            if not is_refusal(failure):
                raise
            if len(some) == 1:
                embedded.refused[some[0]] = str(failure)
                return
            halve(some[: len(some) // 2])
            halve(some[len(some) // 2 :])

    # By length: texts refused for their length are then adjacent.
    rest = sorted(dict.fromkeys(text for text in texts if text not in embedded.refused), key=len)
    try:
        embed_all(rest)
    except SystemFailure as failure:
        if not is_refusal(failure) or len(rest) == 1:
            raise
        embed_all(rest[:1])
        halve(rest[1:])
    zeros = str(ZeroVectorError(embedder))
    _check_tells_apart(list(embedded.vectors.values()), list(embedded.refused.values()).count(zeros))
    return embedded


def _check_tells_apart(vectors: Sequence[NDArray[np.float32]], zeros: int) -> None:
    """Check that different texts have different vectors.

    ``vectors`` are those with a direction, besides ``zeros`` zero vectors.

    Raises:
        SystemFailure: All are the same: the vectors do not depend on the texts.
    """
    if len(vectors) + zeros < _ALIKE or (vectors and zeros):
        return
    if all(np.array_equal(vector, vectors[0]) for vector in vectors):
        one = "the same vector" if vectors else "a vector of zeros"
        raise malformed(
            f"each of {len(vectors) + zeros} different texts was embedded to {one}",
            "Check embedding.provider and embedding.base_url, and whether the model knows the language of the texts.",
        )


def too_long(embedder: Embedder, texts: Sequence[str], input_type: InputType) -> dict[str, str]:
    """The texts that the embedder certainly refuses for their length, with the reason."""
    limit: int | None = getattr(embedder, "query_limit", None) if input_type == "search_query" else None
    return {
        text: f"the query has at least {count} tokens, and {embedder.model} reads {limit}: shorten it"
        for text, count in _above(limit, texts, embedder.model).items()
    }


def cut_short(embedder: Embedder, texts: Sequence[str]) -> dict[str, str]:
    """The queries that the embedder certainly truncates, with the part that it reads."""
    if getattr(embedder, "query_limit", None) is not None:
        return {}
    limit = embedder.max_input_tokens
    return {
        text: f"the query has at least {count} tokens, of which {embedder.model} reads the first {limit}"
        for text, count in _above(limit, texts, embedder.model).items()
    }


def _above(limit: int | None, texts: Sequence[str], model: str) -> dict[str, int]:
    """The texts that certainly have more tokens than ``limit``, with their minimum number of tokens."""
    if limit is None:
        return {}
    # No token is shorter than a byte.
    doubtful = [text for text in dict.fromkeys(texts) if len(text.encode("utf-8", "replace")) > limit]
    counts = fewest_tokens(doubtful, model) if doubtful else []
    return {text: count for text, count in zip(doubtful, counts, strict=True) if count > limit}


def is_refusal(failure: SystemFailure) -> bool:
    """Whether a provider refused the content, so that another text may succeed."""
    return failure.status in _REFUSING


def _dimension_mismatch(vector: VectorFacts, size: int, embedder: Embedder) -> NotMeasurableError:
    """The error for an embedder whose dimension does not fit the collection."""
    return NotMeasurableError(
        f"the collection holds vectors of {plural(vector.size, 'dimension')}, but {embedder.model} returns {size}",
        code=VECTOR_DIMENSION.code,
        subject=vector.name or "vectors",
        remedy=dimension_remedy(embedder.model, vector.size),
        details={"expected": vector.size, "found": size, "model": embedder.model, "distance": vector.distance},
    )
