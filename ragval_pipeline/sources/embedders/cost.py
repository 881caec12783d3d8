"""What embedding costs: the sum over the calls of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragval_pipeline.sources.embedders.base import EmbeddingBatch


@dataclass(frozen=True)
class EmbeddingCost:
    """Sum over embedding calls; ``a + b`` adds two sums, ``EmbeddingCost()`` is the empty one.

    Args:
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

    @classmethod
    def of(cls, batch: EmbeddingBatch) -> EmbeddingCost:
        """The cost of one batch."""
        return cls(
            calls=batch.calls,
            inputs=batch.inputs,
            billed_tokens=batch.billed_tokens,
            cache_hits=batch.cache_hits,
            tries=batch.tries,
            waited_s=batch.waited_s,
            elapsed_s=batch.elapsed_s,
        )

    def __add__(self, other: EmbeddingCost) -> EmbeddingCost:
        return EmbeddingCost(
            calls=self.calls + other.calls,
            inputs=self.inputs + other.inputs,
            billed_tokens=add_billed(self.billed_tokens, other.billed_tokens),
            cache_hits=self.cache_hits + other.cache_hits,
            tries=self.tries + other.tries,
            waited_s=self.waited_s + other.waited_s,
            elapsed_s=self.elapsed_s + other.elapsed_s,
        )

    def usd(self, price: float | None) -> float | None:
        """Money that it took, in US dollars; None when tokens or price are not known.

        Args:
            price: Of a million tokens; 0 for what costs nothing.
        """
        if price == 0.0 or not self.calls:
            return 0.0
        return None if price is None or self.billed_tokens is None else self.billed_tokens * price / 1_000_000


def add_billed(first: float | None, second: float | None) -> float | None:
    """Sum of two counts of billed tokens, where None means that nobody counted."""
    if first is None or second is None:
        return second if first is None else first
    return first + second
