"""Readers and embedders that fail on a given call, as resources of a run, without a server.

run_suite(suite, resources=resources_of([failing_reader("search", SystemFailure(...), after=3)]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.testing.services import PassingEmbedder, PassingReader, Service, resources_of

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder, EmbeddingBatch, InputType
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader

__all__ = ["Call", "acting_reader", "failing_embedder", "failing_reader", "resources_of"]

Call = Literal["facts", "count", "newest", "pages", "vectors", "search"]


def failing_reader(call: Call, error: BaseException, *, after: int = 0) -> Service:
    """A reader that raises on one of its calls.

    Args:
        call: The failing method.
        error: What it raises.
        after: How many calls succeed first, over all readers of the run; pages count individually.
    """

    def fail() -> None:
        raise error

    return acting_reader(call, fail, after=after)


def acting_reader(call: Call, act: Callable[[], None], *, after: int = 0) -> Service:
    """A reader that does something before its calls, from a given one, such as changing the collection.

    Args:
        call: The method.
        act: The action; its exceptions end the call.
        after: How many calls are skipped first.
    """
    seen = [0]

    def count() -> None:
        seen[0] += 1
        if seen[0] > after:
            act()

    class Acting(PassingReader):
        def __getattribute__(self, name: str) -> Any:
            if name != call:
                return super().__getattribute__(name)
            found = getattr(PassingReader(self.inner), name)
            return _each(found, count) if name in {"pages", "vectors"} else _before(found, count)

    def wrapped(reader: Reader) -> Reader:
        return Acting(reader)

    return Service(reader=wrapped)


def failing_embedder(error: BaseException, *, after: int = 0) -> Service:
    """An embedder that raises after some successful calls."""
    seen = [0]

    class Failing(PassingEmbedder):
        def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
            seen[0] += 1
            if seen[0] > after:
                raise error
            return self.inner.embed(texts, input_type=input_type)

    def wrapped(embedder: Embedder) -> Embedder:
        return Failing(embedder)

    return Service(embedder=wrapped)


def _before(call: Callable[..., Any], act: Callable[[], None]) -> Callable[..., Any]:
    def acting(*arguments: Any, **options: Any) -> Any:
        act()
        return call(*arguments, **options)

    return acting


def _each(call: Callable[..., Iterator[Any]], act: Callable[[], None]) -> Callable[..., Iterator[Any]]:
    def acting(*arguments: Any, **options: Any) -> Iterator[Any]:
        for page in call(*arguments, **options):
            act()
            yield page

    return acting
