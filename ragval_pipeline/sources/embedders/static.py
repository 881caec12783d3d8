"""Provider ``static``: the 256-dimensional static vectors of the ``wordllama`` wheel; no key, no network."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.calls import in_calls
from ragval_pipeline.sources.embedders.base import EmbeddingBatch, InputType, no_vectors
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION, STATIC_MODEL
from ragval_pipeline.sources.embedders.static_files import static_files, unusable
from ragval_pipeline.sources.workers import by_running
from ragval_pipeline.text.characters import encodable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import Vectors


TENSOR = "embedding.weight"
VOCABULARY = 32_000


@dataclass(frozen=True, eq=False)
class StaticParts:
    """The data of the static embedder.

    Attributes:
        matrix: float32 array of shape (32000, 256), one row per token.
        tokenizer: ``tokenizers.Tokenizer`` without padding and truncation.
    """

    matrix: Vectors
    tokenizer: Any


@functools.cache
def static_parts() -> StaticParts:
    """Weights and tokenizer, read on the process's first call.

    Raises:
        SuiteError: A file is missing, damaged, or of another model.
    """
    weights, tokenizer = static_files()
    return StaticParts(matrix=_read_matrix(weights), tokenizer=_read_tokenizer(tokenizer))


def _read_matrix(path: Path) -> Vectors:
    import safetensors
    import safetensors.numpy

    try:
        matrix = safetensors.numpy.load_file(path).get(TENSOR)
    except (safetensors.SafetensorError, OSError) as error:
        raise unusable(f"{path} cannot be read ({type(error).__name__})") from error
    # The shape is checked instead of a hash: it is cheap, and the wheel's version is pinned.
    if matrix is None or matrix.shape != (VOCABULARY, STATIC_DIMENSION):
        raise unusable(f"{path} does not hold the expected {VOCABULARY} x {STATIC_DIMENSION} matrix")
    return np.ascontiguousarray(matrix, dtype=np.float32)


def _read_tokenizer(path: Path) -> Any:
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception for a damaged file
        raise unusable(f"{path} cannot be read ({type(error).__name__})") from error
    if tokenizer.get_vocab_size() != VOCABULARY:
        raise unusable(f"{path} does not hold the expected {VOCABULARY} tokens")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


PIECE_CHARS = 16_384
SLICE_CHARS = 262_144
SLICE_TEXTS = 512


def pieces_of(text: str, limit: int = PIECE_CHARS) -> Iterator[str]:
    """Pieces of ``text`` of at most ``limit`` characters; none for an empty text.

    ``limit`` characters without such a blank are cut anyway, which changes a token or two there.
    """
    start = 0
    while len(text) - start > limit:
        cut = _last_cut(text, start, start + limit)
        yield text[start : cut or start + limit]
        start = cut + 1 if cut else start + limit
    if start < len(text):
        yield text[start:]


def slices_of(texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """Pieces of all texts with the index of their text, in slices that can be tokenised at once."""
    pieces = ((index, piece) for index, text in enumerate(texts) for piece in pieces_of(text))
    return in_calls(pieces, SLICE_TEXTS, most=SLICE_CHARS, length=lambda entry: len(entry[1]))


def _last_cut(text: str, start: int, stop: int) -> int:
    """Index of the last blank in ``text[start:stop]`` where a cut is allowed; 0 if there is none."""
    at = text.rfind(" ", start + 1, stop)
    while at > 0 and not (text[at - 1].isalnum() and text[at + 1].isalnum()):
        at = text.rfind(" ", start + 1, at)
    return max(at, 0)


#: Maximum cached words, about 20 MB, and maximum average tokens per word.
WORDS_HELD, WORD_TOKENS = 100_000, 64
#: The blank after a word, the end of a line, and special tokens and blanks of the tokenizer.
_PARTED = re.compile(r"(?<=[^ ]) |(?=\n)")
_SPECIAL = ("<s>", "</s>", "<unk>", "\u2581")
_BLANK = "\u2581"


class StaticEmbedder:
    """The offline embedder. Its weights are read on the first call and shared by all instances of a process."""

    provider = "static"
    model = STATIC_MODEL
    dimension: int | None = STATIC_DIMENSION
    max_input_tokens: int | None = None
    free = True

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embed ``texts``; ``input_type`` makes no difference.

        Returns:
            Vectors of shape (n, 256), of length 1, or 0 for a text without tokens.

        Raises:
            SuiteError: The weights are not installed or damaged.
        """
        if not texts:
            return no_vectors(STATIC_DIMENSION)
        static_parts()
        started = time.perf_counter()
        some = [texts[start : start + SLICE_TEXTS] for start in range(0, len(texts), SLICE_TEXTS)]
        vectors = np.concatenate(list(by_running(_embedded, some)))
        elapsed = time.perf_counter() - started
        return EmbeddingBatch(
            vectors=vectors, calls=1, inputs=len(texts), billed_tokens=0.0, tries=1, elapsed_s=elapsed
        )

    def close(self) -> None:
        """Nothing to close."""


def _embedded(texts: Sequence[str]) -> Vectors:
    return _unit_length(_token_sums(static_parts(), [encodable(text) for text in texts]))


def _token_sums(parts: StaticParts, texts: Sequence[str]) -> NDArray[np.float64]:
    """Sum of token vectors per text, shape (n, 256). float64, so that very long texts lose no precision."""
    vocabulary = _vocabulary(parts)
    sums = np.zeros((len(texts), STATIC_DIMENSION), dtype=np.float64)
    for held in slices_of(texts):
        tokens = vocabulary.tokens_of([piece for _, piece in held])
        for (index, _), ids in zip(held, tokens, strict=True):
            sums[index] += parts.matrix.take(ids, axis=0).sum(axis=0)
    return sums


class _Vocabulary(dict[str, int]):
    """A number for each known word, and the tokens of all words in one array.

    No token has a blank after another character, or a line end next to one, so a text's tokens are those of its words,
    each with the blanks before it. The tokenizer adds one blank before its input: words are split at that one. A word
    that begins with a line end follows without a blank.
    """

    _new: list[str]
    _ends: NDArray[np.intp]
    _tokens: NDArray[np.intp]

    def __init__(self, parts: StaticParts) -> None:
        super().__init__()
        self._parts = parts
        self._forget()

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self._new.append(word)
        return number

    def tokens_of(self, texts: Sequence[str]) -> list[NDArray[np.intp]]:
        words, ends = self._numbers(texts)
        lengths = np.diff(self._ends)[words]
        last = np.cumsum(lengths)
        tokens = self._tokens[np.arange(lengths.sum()) + np.repeat(self._ends[words] - last + lengths, lengths)]
        # The tokens of a text end with those of its last word.
        return [tokens[start:end] for start, end in pairwise(np.concatenate([[0], last])[ends].tolist())]

    def counts_of(self, texts: Sequence[str]) -> list[int]:
        words, ends = self._numbers(texts)
        last = np.concatenate([[0], np.cumsum(np.diff(self._ends)[words])])
        counts: list[int] = np.diff(last[ends]).tolist()
        return counts

    def _numbers(self, texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The words of all texts, and the offset after each text's last word, starting with 0."""
        if len(self) > WORDS_HELD or len(self._tokens) > WORDS_HELD * WORD_TOKENS:
            self._forget()
        words = list(map(_words, texts))
        numbers = np.fromiter(map(self.__getitem__, chain.from_iterable(words)), dtype=np.intp)
        self._learn()
        return numbers, np.cumsum([0, *map(len, words)])

    def _learn(self) -> None:
        """Add the tokens of new words."""
        if self._new:
            tokenizer = self._parts.tokenizer
            found = [
                # A text's last blank has no word after it, and is a token by itself.
                (encoding.ids[1:] if word[0] == "\n" else encoding.ids) if word else [tokenizer.token_to_id(_BLANK)]
                for word, encoding in zip(
                    self._new, tokenizer.encode_batch(self._new, add_special_tokens=False), strict=True
                )
            ]
            tokens = np.fromiter(chain.from_iterable(found), dtype=np.intp)
            self._ends = np.concatenate([self._ends, self._ends[-1] + np.cumsum(list(map(len, found)))])
            self._tokens = np.concatenate([self._tokens, tokens])
            self._new.clear()

    def _forget(self) -> None:
        self.clear()
        self._new = []
        self._ends, self._tokens = np.zeros(1, dtype=np.intp), np.empty(0, dtype=np.intp)


@functools.cache
def _vocabulary(parts: StaticParts) -> _Vocabulary:
    return _Vocabulary(parts)


def token_counts(parts: StaticParts, texts: Sequence[str]) -> list[int]:
    """How many tokens each text has."""
    return _vocabulary(parts).counts_of(texts)


def _words(text: str) -> list[str]:
    if not text:
        return []
    if any(mark in text for mark in _SPECIAL):
        return ["", text] if text[0] == "\n" else [text]
    if "  " in text or text[0] == " ":
        return _PARTED.split(text)
    return text.replace("\n", " \n").split(" ")


def _unit_length(sums: NDArray[np.float64]) -> Vectors:
    """Rows scaled to length 1, in place. Sum and mean have the same direction: no division by the count is needed."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    scaled: Vectors = np.divide(sums, lengths, out=sums, where=lengths > 0).astype(np.float32)
    return scaled
