"""The embedder interface: batched calls, with results that are checked, joined and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.embedder.unreachable import RULE as EMBEDDER_UNREACHABLE
from ragval_pipeline.sources.calls import in_calls
from ragval_pipeline.text.characters import encodable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

InputType = Literal["search_query", "search_document"]

T = TypeVar("T")

MALFORMED = "malformed answer"
#: Maximum texts per call of Cohere's API (docs.cohere.com/reference/embed); custom embedders get no more.
BATCH = 96


@dataclass(frozen=True)
class EmbeddingCost:
    """The cost of embedding; ``a + b`` adds, ``EmbeddingCost()`` is zero.

    Attributes:
        calls: Calls to the provider, failed ones included; a retried call counts once.
        inputs: Texts of these calls.
        billed_tokens: Tokens billed, as reported by the calls; None if none did.
        cache_hits: Texts taken from the cache.
        tries: Tries of all calls, as counted by request limits.
        waited_s: Seconds slept between tries.
        elapsed_s: Seconds spent in successful calls, including their failed tries.
    """

    calls: int = 0
    inputs: int = 0
    billed_tokens: float | None = None
    cache_hits: int = 0
    tries: int = 0
    waited_s: float = 0.0
    elapsed_s: float = field(default=0.0, compare=False)  # differs between runs

    def __add__(self, other: EmbeddingCost) -> EmbeddingCost:
        def added(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            return theirs if mine is None else mine if theirs is None else mine + theirs

        return EmbeddingCost(**{entry.name: added(entry.name) for entry in fields(EmbeddingCost)})

    def usd(self, price: float | None) -> float | None:
        """Cost in US dollars; None if tokens or price are unknown.

        ``price`` is per million tokens, 0 if free.
        """
        if price == 0.0 or not self.calls:
            return 0.0
        return None if price is None or self.billed_tokens is None else self.billed_tokens * price / 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class EmbeddingBatch(EmbeddingCost):
    """The vectors of some texts, and their cost.

    Attributes:
        vectors: float32 array of shape (number of texts, dimension), rows in the order of the texts.
    """

    vectors: Vectors


class Embedder(Protocol):
    """Turns texts into vectors. One instance is for one thread."""

    @property
    def provider(self) -> str:
        """``cohere``, ``static``, or the ``module:attr`` of the user's own."""

    @property
    def model(self) -> str:
        """Name of the model."""

    @property
    def dimension(self) -> int | None:
        """Length of the vectors; None until known, at the latest after the first call."""

    @property
    def max_input_tokens(self) -> int | None:
        """Input limit of the model in tokens; None if unknown or unlimited."""

    @property
    def free(self) -> bool:
        """Whether calls are free, so that everything may be re-embedded."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embed ``texts``; an empty list makes no call.

        Raises:
            SystemFailure: The provider refused, timed out or gave a malformed answer.
        """

    def close(self) -> None:
        """Release connections. May be called more than once."""


class BatchingEmbedder:
    """Embeds texts in as many calls as ``_embed_slice`` needs.

    Attributes:
        dimension: Length of the vectors; None until known.
        batch_size: Maximum texts per call.
        call_chars: Maximum characters per call; None: no limit.
    """

    dimension: int | None
    batch_size: int = BATCH
    call_chars: int | None = None

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embed ``texts``; an empty list makes no call.

        Raises:
            SystemFailure: ``embedder.unreachable``: a call failed, or its result is malformed.
        """
        if not texts:
            return no_vectors(self.dimension)
        calls = in_calls([encodable(text) for text in texts], self.batch_size, most=self.call_chars)
        return joined([self._embed_slice(part, input_type) for part in calls])

    def _embed_slice(self, texts: list[str], input_type: InputType) -> EmbeddingBatch:
        """Make one call."""
        raise NotImplementedError


def check_batch(vectors: Any, n: int, dimension: int | None) -> Vectors:
    """Turn a provider's response into an array, or raise.

    Returns:
        float32 array of shape (n, dimension).

    Raises:
        SystemFailure: ``embedder.unreachable`` if number, length or values of the vectors are invalid.
    """
    try:
        with np.errstate(over="ignore"):  # a number too large for float32 becomes inf and is caught below
            array = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise malformed("the answer is not a list of equally long lists of numbers") from None
    if array.ndim == 0 or array.shape[0] != n:
        raise malformed(f"{n} texts were sent, {len(array) if array.ndim else 0} vectors were returned")
    if array.ndim != 2 or array.shape[1] == 0:
        raise malformed("the answer is not a list of equally long lists of numbers")
    if dimension is not None and array.shape[1] != dimension:
        remedy = "Check embedding.model, embedding.dimension and embedding.base_url."
        raise malformed(f"vectors have {array.shape[1]} dimensions instead of {dimension}", remedy)
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        raise malformed(f"vector {int(np.argmin(finite)) + 1} of {n} holds NaN or infinity")
    return array


def malformed(problem: str, remedy: str = "Check embedding.provider and embedding.base_url.") -> SystemFailure:
    """The failure for an invalid response of a provider."""
    return SystemFailure(problem, code=EMBEDDER_UNREACHABLE.code, system="embedder", subject=MALFORMED, remedy=remedy)


def no_vectors(dimension: int | None) -> EmbeddingBatch:
    """The result for no texts: an array of shape (0, dimension), no call."""
    return EmbeddingBatch(vectors=np.empty((0, dimension or 0), dtype=np.float32))


def joined(batches: Sequence[EmbeddingBatch]) -> EmbeddingBatch:
    """One batch with the rows of all, in order, and their total cost. Needs at least one batch."""
    if len(batches) == 1:
        return batches[0]
    vectors = np.concatenate([batch.vectors for batch in batches])
    return EmbeddingBatch(vectors=vectors, **vars(sum(batches, EmbeddingCost())))
