"""What every embedder promises, and the guard that no malformed answer gets past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ragval_pipeline.errors import SystemFailure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

InputType = Literal["search_query", "search_document"]

MALFORMED = "malformed answer"


@dataclass(frozen=True, eq=False)
class EmbeddingBatch:
    """The vectors of some texts, and what it took to get them.

    Attributes:
        vectors: float32 array of shape (number of texts, dimension), rows in the order of the texts.
        calls: Calls to the provider that answered; retries of a call are counted in ``tries`` only.
        inputs: Texts that were sent to the provider.
        billed_tokens: Tokens that the provider says it bills; None when it says nothing.
        tries: Tries of all calls, the successful ones included.
        waited_s: Seconds slept between tries.
        elapsed_s: Seconds spent in calls, failed tries included, sleeping excluded.
        cache_hits: Texts that were answered without the provider.
    """

    vectors: Vectors
    calls: int = 0
    inputs: int = 0
    billed_tokens: float | None = None
    tries: int = 0
    waited_s: float = 0.0
    elapsed_s: float = 0.0
    cache_hits: int = 0


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
        """Length of the vectors; None until it is known, at the latest after the first answer."""

    @property
    def max_input_tokens(self) -> int | None:
        """Tokens that the model reads of one text; None when unknown or unlimited."""

    @property
    def free(self) -> bool:
        """Whether calls cost nothing, so that everything may be embedded again."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embed ``texts``; no text makes no call.

        Raises:
            SystemFailure: The provider refused, timed out or gave a malformed answer.
        """

    def close(self) -> None:
        """Give back connections. May be called more than once."""


def check_batch(vectors: Any, n: int, dimension: int | None) -> Vectors:
    """Turn a provider's answer into an array, or say what is wrong with it.

    Args:
        vectors: Sequences of numbers, one for each text.
        n: How many texts were sent.
        dimension: The length that vectors must have; None: any, but all the same.

    Returns:
        float32 array of shape (n, dimension).

    Raises:
        SystemFailure: ``embedder.unreachable`` when number, length or values of the vectors are not what they must be.
    """
    import numpy as np

    try:
        with np.errstate(over="ignore"):  # a number too big for float32 becomes inf and is caught below
            array = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise malformed("the answer is not a list of equally long lists of numbers") from None
    if array.ndim == 0 or array.shape[0] != n:
        raise malformed(f"{n} texts were sent, {len(array) if array.ndim else 0} vectors came back")
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
    """The failure of a provider that answered something that it must not answer."""
    return SystemFailure(problem, code="embedder.unreachable", system="embedder", subject=MALFORMED, remedy=remedy)


def no_vectors(dimension: int | None) -> EmbeddingBatch:
    """The answer to no texts: an array of shape (0, dimension), no call."""
    import numpy as np

    return EmbeddingBatch(vectors=np.empty((0, dimension or 0), dtype=np.float32))
