"""The one tokenizer: the words of a text, and its blanks folded."""

from __future__ import annotations

import re
import unicodedata

from ragval_pipeline.text.characters import UNSPACED, ZERO_WIDTH

_INVISIBLE = re.compile(f"[{ZERO_WIDTH}]")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def fold_blanks(text: str) -> str:
    """A text as readers see it: zero-width characters dropped, blanks joined, none at the ends."""
    return " ".join((text if text.isascii() else _INVISIBLE.sub("", text)).split())


def words_of(text: str) -> list[str]:
    """Words in lower case, without punctuation; each character of a script without blanks is a word."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).lower()
    return _WORD.findall(folded)
