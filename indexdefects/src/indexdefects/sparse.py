"""Sparse vectors of BM25, computed by fastembed as LangChain, LlamaIndex and Haystack use it."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from typing import Any

MODEL = "Qdrant/bm25"
#: Languages whose word endings fastembed cuts off.
_STEMMED = {"en": "english"}

#: Weight by index.
Sparse = dict[int, float]


@functools.cache
def _model(language: str) -> Any:
    from fastembed.sparse.bm25 import Bm25

    stemmed = _STEMMED.get(language)
    options: dict[str, Any] = {"language": stemmed} if stemmed else {"disable_stemmer": True}
    # An empty folder of its own: without stop words, which it would download, and so the same everywhere.
    with tempfile.TemporaryDirectory() as empty:
        return Bm25(MODEL, specific_model_path=empty, **options)


def sparse(texts: Sequence[str], language: str) -> list[Sparse]:
    """The sparse vector of each text."""
    return [
        dict(zip(found.indices.tolist(), map(float, found.values.astype("float32")), strict=True))
        for found in _model(language).embed(list(texts))
    ]
