"""The static vectors and the tokenizer that the ``wordllama`` wheel carries."""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Vectors

PACKAGE = "wordllama"
WEIGHTS = Path("weights") / "l2_supercat_256.safetensors"
TOKENIZER = Path("tokenizers") / "l2_supercat_tokenizer_config.json"
TENSOR = "embedding.weight"
VOCABULARY = 32_000
REMEDY = "Install it with: pip install 'wordllama==0.4.*'"


@dataclass(frozen=True, eq=False)
class StaticParts:
    """What the static embedder computes with.

    Args:
        matrix: float32 array of shape (32000, 256), one row per token.
        tokenizer: ``tokenizers.Tokenizer`` without padding and truncation.
        words: Tokens of words that were met, for ``static.token_ids``.
        counts: How many tokens words have that were met, for ``static.token_counts``.
    """

    matrix: Vectors
    tokenizer: Any
    words: dict[str, list[int]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def static_files() -> tuple[Path, Path]:
    """Paths of the weights and of the tokenizer.

    Raises:
        SuiteError: The wheel is not installed, or lacks one of the files.
    """
    spec = importlib.util.find_spec(PACKAGE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise _unusable(f"provider static needs the package {PACKAGE}, which is not installed")
    weights, tokenizer = Path(folders[0]) / WEIGHTS, Path(folders[0]) / TOKENIZER
    for path in (weights, tokenizer):
        if not path.is_file():
            raise _unusable(f"provider static needs the file {path}, which is not there")
    return weights, tokenizer


@functools.cache
def static_parts() -> StaticParts:
    """Weights and tokenizer, read at the first call of the process.

    Raises:
        SuiteError: A file is missing, damaged, or of another model.
    """
    weights, tokenizer = static_files()
    return StaticParts(matrix=_read_matrix(weights), tokenizer=_read_tokenizer(tokenizer))


def _read_matrix(path: Path) -> Vectors:
    import numpy as np
    import safetensors
    import safetensors.numpy

    try:
        matrix = safetensors.numpy.load_file(path).get(TENSOR)
    except (safetensors.SafetensorError, OSError) as error:
        raise _unusable(f"{path} cannot be read ({type(error).__name__})") from error
    # The shape is checked rather than a hash: it costs nothing, and the version of the wheel is pinned.
    if matrix is None or matrix.shape != (VOCABULARY, STATIC_DIMENSION):
        raise _unusable(f"{path} does not hold the expected {VOCABULARY} x {STATIC_DIMENSION} matrix")
    return np.ascontiguousarray(matrix, dtype=np.float32)


def _read_tokenizer(path: Path) -> Any:
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception for a damaged file
        raise _unusable(f"{path} cannot be read ({type(error).__name__})") from error
    if tokenizer.get_vocab_size() != VOCABULARY:
        raise _unusable(f"{path} does not hold the expected {VOCABULARY} tokens")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _unusable(problem: str) -> SuiteError:
    return SuiteError(problem, key="embedding.provider", remedy=REMEDY)
