"""What every embedder promises: calls of some texts each, and answers that are checked, joined and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from ragval_pipeline.errors import SystemFailure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

InputType = Literal["search_query", "search_document"]

T = TypeVar("T")

MALFORMED = "malformed answer"
#: Texts per call that Cohere's API takes (docs.cohere.com/reference/embed); embedders of the user's own get no more.
BATCH = 96


@dataclass(frozen=True)
class EmbeddingCost:
    """What embedding took; ``a + b`` adds two sums, ``EmbeddingCost()`` is the empty one.

    Attributes:
        calls: Calls to the provider, failed ones included; one that was tried again is one call.
        inputs: Texts of these calls.
        billed_tokens: Tokens billed, over the calls that named them; None when none did.
        cache_hits: Texts answered without the provider.
        tries: Tries of all calls: what a limit on requests counts.
        waited_s: Seconds slept between tries.
        elapsed_s: Seconds spent in calls that answered, failed tries of theirs included.
    """

    calls: int = 0
    inputs: int = 0
    billed_tokens: float | None = None
    cache_hits: int = 0
    tries: int = 0
    waited_s: float = 0.0
    elapsed_s: float = field(default=0.0, compare=False)  # no two runs take the same

    def __add__(self, other: EmbeddingCost) -> EmbeddingCost:
        def added(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            return theirs if mine is None else mine if theirs is None else mine + theirs

        return EmbeddingCost(**{entry.name: added(entry.name) for entry in fields(EmbeddingCost)})

    def usd(self, price: float | None) -> float | None:
        """Money that it took, in US dollars; None when tokens or price are not known.

        Args:
            price: Of a million tokens; 0 for what costs nothing.
        """
        if price == 0.0 or not self.calls:
            return 0.0
        return None if price is None or self.billed_tokens is None else self.billed_tokens * price / 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class EmbeddingBatch(EmbeddingCost):
    """The vectors of some texts, and what it took to get them.

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
    """The failure of a provider that answered something that it must not answer."""
    return SystemFailure(problem, code="embedder.unreachable", system="embedder", subject=MALFORMED, remedy=remedy)


def no_vectors(dimension: int | None) -> EmbeddingBatch:
    """The answer to no texts: an array of shape (0, dimension), no call."""
    import numpy as np

    return EmbeddingBatch(vectors=np.empty((0, dimension or 0), dtype=np.float32))


def in_calls(
    texts: Sequence[T],
    size: int | None,
    *,
    chars: int | None = None,
    length: Callable[[T], int] = len,  # type: ignore[assignment]
) -> Iterator[list[T]]:
    """``texts`` in slices of at most ``size`` and of at most ``chars`` characters, of one text at least.

    Args:
        texts: What is to be sent, in any form.
        size: Texts of a slice; None: any number.
        chars: Characters of a slice; None: any number.
        length: Characters of one of ``texts``.
    """
    held: list[T] = []
    count = 0
    for text in texts:
        more = length(text) if chars is not None else 0
        if held and (len(held) == size or (chars is not None and count + more > chars)):
            yield held
            held, count = [], 0
        held.append(text)
        count += more
    if held:
        yield held


def joined(batches: Sequence[EmbeddingBatch]) -> EmbeddingBatch:
    """One batch with the rows of all, in order, and the sums of what they took. At least one batch is needed."""
    import numpy as np

    if len(batches) == 1:
        return batches[0]
    vectors = np.concatenate([batch.vectors for batch in batches])
    return EmbeddingBatch(vectors=vectors, **vars(sum(batches, EmbeddingCost())))
