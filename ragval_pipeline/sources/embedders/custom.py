"""Provider ``module:attr``: the user's own embedder.

- a function ``(texts: list[str], input_type: str) -> list of vectors``, or
- an object, or a class without arguments, with ``embed(texts, input_type=...) -> list of vectors``,

each with the optional attributes ``model``, ``dimension``, ``max_input_tokens`` and ``free``. Its exceptions are not
retried: only it knows which are worth another try.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.rules.embedder.unreachable import RULE as EMBEDDER_UNREACHABLE
from ragval_pipeline.sources.embedders.base import BatchingEmbedder, EmbeddingBatch, InputType, check_batch
from ragval_pipeline.sources.embedders.budget import Budget
from ragval_pipeline.sources.embedders.models import known_dimension, known_limit
from ragval_pipeline.sources.own_code import call_guarded, load_attribute, takes

KEY = "embedding.provider"

_log = logging.getLogger(__name__)


class CustomEmbedder(BatchingEmbedder):
    """Calls the user's embedder, at most 96 texts a call (``BATCH``).

    Args:
        spec: ``module:attr``.
        model: Name to use when the user's embedder has none; None: ``spec``.
        dimension: Required length of the vectors; None: the embedder's attribute, else that of the first result.
        search_path: Folder of the suite file.

    Raises:
        SuiteError: No embedder is found under ``spec``, or ``dimension`` contradicts its own.
        SystemFailure: Building the user's class raised.
    """

    #: The run's budget; None: unlimited.
    budget: Budget | None = None

    def __init__(
        self,
        spec: str,
        *,
        model: str | None = None,
        dimension: int | None = None,
        search_path: Path | None = None,
    ) -> None:
        self.provider = spec
        embedder = load_custom(spec, search_path=search_path)
        self._owner: Any = self._guarded(embedder) if inspect.isclass(embedder) else embedder
        self.model = str(self._told("model") or model or spec)
        own_dimension = self._whole_number("dimension")
        if dimension and own_dimension and dimension != own_dimension:
            raise SuiteError(
                f"{spec} says that its vectors have {own_dimension} dimensions, not {dimension}",
                key="embedding.dimension",
                remedy="Leave the key out, or correct it.",
            )
        self.dimension = dimension or own_dimension or known_dimension(self.model)
        self.max_input_tokens = self._whole_number("max_input_tokens") or known_limit(self.model)
        self.free = self._told("free") is True

    def close(self) -> None:
        """Call the user's ``close``, if it has one; its exceptions are logged, since the vectors are already there."""
        try:
            close = self._told("close")
            if callable(close):
                self._guarded(close)
        except SystemFailure as failure:
            _log.warning("closing the embedder: %s", failure)

    def _embed_slice(self, texts: list[str], input_type: InputType) -> EmbeddingBatch:
        if self.budget:
            self.budget.begin(() if self.free else texts, self.model)
        started = time.perf_counter()
        answer = self._guarded(lambda: self._ask(texts, input_type))
        elapsed = time.perf_counter() - started
        vectors = check_batch(answer, len(texts), self.dimension)
        self.dimension = vectors.shape[1]
        return EmbeddingBatch(vectors=vectors, calls=1, inputs=len(texts), tries=1, elapsed_s=elapsed)

    def _ask(self, texts: list[str], input_type: InputType) -> Any:
        if callable(getattr(self._owner, "embed", None)):
            return self._owner.embed(texts, input_type=input_type)
        return self._owner(texts, input_type)

    def _guarded(self, call: Callable[[], Any]) -> Any:
        return call_guarded(call, self._failure)

    def _failure(self, exception: str) -> SystemFailure:
        return SystemFailure(
            f"{self.provider} raised {exception}",
            code=EMBEDDER_UNREACHABLE.code,
            system="embedder",
            subject=exception,
            remedy="See its own message and traceback.",
            details={"provider": self.provider},
        )

    def _told(self, name: str) -> Any:
        """The attribute ``name`` of the user's embedder; None if it has none."""
        return self._guarded(lambda: getattr(self._owner, name, None))

    def _whole_number(self, name: str) -> int | None:
        number = self._told(name)
        if number is None or (isinstance(number, int) and number > 0):
            return number
        raise SuiteError(f"{name} of {self.provider} is {number!r}, not a whole number above 0", key=KEY)


def load_custom(spec: str, *, search_path: Path | None = None) -> Any:
    """Import what ``spec`` names and check that it can be called as an embedder; nothing is built or called.

    Raises:
        SuiteError: No such module or attribute, or it is not an embedder.
    """
    attribute: Any = load_attribute(spec, key=KEY, search_path=search_path)
    embed = getattr(attribute, "embed", None)
    if inspect.isclass(attribute):
        usable = callable(embed) and takes(attribute)
    elif callable(embed):
        usable = takes(embed, ["text"], input_type="search_query")
    else:
        usable = callable(attribute) and takes(attribute, ["text"], "search_query")
    if not usable:
        raise SuiteError(
            f"{spec} is not an embedder",
            key=KEY,
            remedy="Specify a function (texts, input_type), or an object or a class without arguments that has "
            "embed(texts, input_type=...).",
        )
    return attribute
