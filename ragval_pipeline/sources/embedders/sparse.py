"""Sparse vectors: words and how often they occur, as BM25 of fastembed or Qdrant counts them, or one's own model."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from itertools import islice
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.embedder.unreachable import RULE as EMBEDDER_UNREACHABLE
from ragval_pipeline.sources.own_code import call_guarded, load_attribute

#: Weight by index, for each text.
Encode = Callable[[Sequence[str]], list[dict[int, float]]]
#: Languages whose word endings fastembed knows, the commonest first.
LANGUAGES = (
    "english", "german", "french", "spanish", "italian", "portuguese", "dutch", "russian", "swedish", "danish",
    "norwegian", "finnish", "turkish", "hungarian", "romanian", "greek", "arabic",
)  # fmt: skip
#: Added to a language whose words end at underscores.
OF_SERVER = " (Qdrant)"
#: Point id, stored text, and embedded text if it is another.
TextRow = tuple[str, str | None, str | None]
#: Texts by which language and text are chosen, and the share of their vectors that must be explained.
_TRIED, _EXPLAINED = 64, 1 / 3
#: fastembed's saturation. Without a share of the length, a weight determines how often its word occurs.
_K = 1.2


def knows_bm25() -> bool:
    """Whether fastembed is installed."""
    return importlib.util.find_spec("fastembed") is not None


def word_counts() -> Iterator[tuple[str, Encode]]:
    """Functions that count the words of texts by fastembed's indices, by language, and last without word endings.

    Each language comes twice: words that a Qdrant server embeds (``models.Document``) end at underscores, those of
    fastembed do not. Stop words are counted, too: fastembed keeps them in files that it downloads, and nothing is
    downloaded here.
    """
    from fastembed.sparse.bm25 import Bm25, SnowballStemmer  # type: ignore[attr-defined]  # the stemmer that it uses

    with tempfile.TemporaryDirectory(prefix="ragval-bm25-") as empty:
        plain = Bm25("Qdrant/bm25", specific_model_path=empty, k=_K, b=0.0, disable_stemmer=True)
    for language in LANGUAGES:
        model = copy(plain)  # a new one takes half a second
        model.stemmer = SnowballStemmer(language)
        yield from _counting(language, model)
    yield from _counting("", plain)


def _counting(language: str, model: Any) -> Iterator[tuple[str, Encode]]:
    def count(texts: Sequence[str]) -> list[dict[int, float]]:
        found = model.embed(list(texts))
        return [
            {
                index: float(round(value * _K / (_K + 1 - value)))
                for index, value in zip(each.indices.tolist(), each.values.tolist(), strict=True)
            }
            for each in found
        ]

    def count_parts(texts: Sequence[str]) -> list[dict[int, float]]:
        return count([text.replace("_", " ") for text in texts])

    yield language, count
    yield f"{language}{OF_SERVER}", count_parts


def choose_model(
    stored: Mapping[str, Set[int]],
    texts: Iterable[TextRow],
    models: Iterable[tuple[str, Encode]],
    *,
    at_any_rate: bool = False,
) -> tuple[str, Encode, int] | None:
    """The language whose words explain most vectors, what finds them, and the column of ``TextRow`` that they are of.

    Args:
        stored: Indices of the stored sparse vectors, by point.
        texts: The points' texts.
        models: By language.
        at_any_rate: Whether the vectors are known to be BM25, so that the best is taken however little it explains.

    Returns:
        None if even the best explains less than a third of some vectors; the first without any vector.
    """
    sample = list(islice((row for row in texts if row[0] in stored), _TRIED))
    best: tuple[float, str, Encode, int] | None = None
    for language, encode in models:
        for place in (1, 2):
            written = [row[place] or row[1] or "" for row in sample]
            fits = [stored[row[0]] <= words.keys() for row, words in zip(sample, encode(written), strict=True)]
            score = sum(fits) / len(fits) if fits else 1.0
            if best is None or score > best[0]:
                best = (score, language, encode, place)
        if best is not None and best[0] == 1.0:
            break
    return None if best is None or (best[0] < _EXPLAINED and not at_any_rate) else best[1:]


def own_sparse_model(spec: str, search_path: Path | None) -> Encode:
    """The user's own sparse model, ``module:attr``.

    It maps a list of texts to as many sparse vectors: mappings of index to weight, or objects with ``indices`` and
    ``values``.

    Raises:
        SuiteError: There is no such function.
    """
    function: Any = load_attribute(spec, key="retrieval.sparse.model", search_path=search_path)

    def failure(problem: str) -> SystemFailure:
        return SystemFailure(
            f"{spec} {problem}",
            code=EMBEDDER_UNREACHABLE.code,
            system="embedder",
            subject=spec,
            remedy=f"Correct {spec}.",
        )

    def encode(texts: Sequence[str]) -> list[dict[int, float]]:
        vectors: Iterable[Any] = call_guarded(lambda: list(function(list(texts))), failure)
        found = [_weights(vector) for vector in vectors]
        if len(found) != len(texts):
            raise failure(f"returned {len(found)} sparse vectors for {len(texts)} texts")
        return found

    return encode


def _weights(vector: Any) -> dict[int, float]:
    if isinstance(vector, Mapping):
        return {int(index): float(weight) for index, weight in vector.items()}
    return {int(index): float(weight) for index, weight in zip(vector.indices, vector.values, strict=True)}
