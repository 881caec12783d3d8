"""The connections of one or many searches, each opened when it is first needed."""

from __future__ import annotations

import math
from contextlib import ExitStack
from functools import cached_property

from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.embedders.of_suite import open_suite_embedder
from ragval_pipeline.sources.search.production import ProductionSearcher, production_searcher
from ragval_pipeline.sources.stores.qdrant.connect import open_client
from ragval_pipeline.sources.stores.qdrant.of_suite import reader_of_suite
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.model import Suite


class Session:
    """What a resolved suite's searches go through; a connection that cannot be opened raises ``SystemFailure``."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._stack = ExitStack()

    def close(self) -> None:
        """Close what was opened."""
        self._stack.close()

    @cached_property
    def embedder(self) -> Embedder:
        """The suite's embedder."""
        embedder = open_suite_embedder(self._suite)
        self._stack.callback(embedder.close)
        return embedder

    @cached_property
    def reader(self) -> CollectionReader:
        """The suite's collection."""
        return reader_of_suite(self._stack.enter_context(open_client(self._suite.qdrant)), self._suite)

    @cached_property
    def production(self) -> ProductionSearcher:
        """The user's own search, where the suite names one."""
        return production_searcher(self._suite)

    @cached_property
    def _higher_is_better(self) -> bool:
        if self._suite.retrieval.retriever is not None:
            return True
        vector = self.reader.facts().vector(self._suite.qdrant.vector_name)
        return vector is None or vector.higher_is_better

    def reaches(self, score: float, threshold: float) -> bool:
        """Whether a score is at least as good as the threshold; of distances the smaller is the better.

        Infinity and NaN, which a search of the user's own may give, are no scores and reach nothing.
        """
        if not math.isfinite(score):
            return False
        return score >= threshold - 1e-6 if self._higher_is_better else score <= threshold + 1e-6
