"""Cutting texts into calls, and joining the answers of several calls into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TypeVar

from ragval_pipeline.sources.embedders.base import EmbeddingBatch
from ragval_pipeline.sources.embedders.cost import add_billed

T = TypeVar("T")

#: Texts per call that Cohere's API takes (docs.cohere.com/reference/embed); embedders of the user's own get no more.
BATCH = 96


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
    return EmbeddingBatch(
        vectors=np.concatenate([batch.vectors for batch in batches]),
        calls=sum(batch.calls for batch in batches),
        inputs=sum(batch.inputs for batch in batches),
        billed_tokens=reduce(add_billed, (batch.billed_tokens for batch in batches)),
        tries=sum(batch.tries for batch in batches),
        waited_s=sum(batch.waited_s for batch in batches),
        elapsed_s=sum(batch.elapsed_s for batch in batches),
        cache_hits=sum(batch.cache_hits for batch in batches),
    )
