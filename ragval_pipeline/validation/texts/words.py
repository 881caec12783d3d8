"""The words of a text, for comparing chunks with each other.

What lives here: folding blanks and invisible characters, and cutting into words. What does not: comparing.
"""

from __future__ import annotations

import re
import unicodedata

from ragval_pipeline.blanks import ZERO_WIDTH

_INVISIBLE = re.compile(f"[{ZERO_WIDTH}]")
#: Scripts without blanks between words: each character is one.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
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
