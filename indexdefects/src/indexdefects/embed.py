"""Embedding that every tool can share: mean static vectors, offline, the same on every machine.

The vectors are those of the `wordllama` wheel (256 dimensions, `l2_supercat`); its package is never imported.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
MODEL = "wordllama/l2_supercat/256"
DIMENSION = 256


@functools.cache
def _parts() -> tuple[Any, Any]:
    import safetensors.numpy
    import tokenizers

    spec = importlib.util.find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the package wordllama, whose vectors the benchmark uses, is not installed")
    folder = Path(spec.submodule_search_locations[0])
    matrix = safetensors.numpy.load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return matrix.astype(np.float32), tokenizer


def embed(texts: Sequence[str]) -> Vectors:
    """Vectors of shape (n, 256) and length 1; zero for a text without tokens."""
    matrix, tokenizer = _parts()
    sums = np.zeros((len(texts), DIMENSION), dtype=np.float64)
    for row, encoding in enumerate(tokenizer.encode_batch(list(texts), add_special_tokens=False)):
        if encoding.ids:
            sums[row] = matrix[encoding.ids].sum(axis=0, dtype=np.float64)
    return _unit_length(sums)


def embed_by_another_model(texts: Sequence[str]) -> Vectors:
    """Vectors of the same shape from another model: signed hashes of words, as a hashing vectoriser makes them."""
    sums = np.zeros((len(texts), DIMENSION), dtype=np.float64)
    for row, text in enumerate(texts):
        for word in text.lower().split() or [text]:
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            for place in range(0, 8, 2):
                sums[row, digest[place]] += 1 if digest[place + 1] % 2 else -1
    return _unit_length(sums)


def _unit_length(sums: NDArray[np.float64]) -> Vectors:
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    scaled: Vectors = np.divide(sums, lengths, out=sums, where=lengths > 0).astype(np.float32)
    return scaled
