"""The one tokenizer: the words of a text, and its blanks folded."""

from __future__ import annotations

import re
import unicodedata

from ragval_pipeline.text.characters import UNSPACED, ZERO_WIDTH

_INVISIBLE = re.compile(f"[{ZERO_WIDTH}]")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
#: Of ASCII lower case, and blanks for all but letters and digits.
_ASCII_WORDS = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))


def fold_blanks(text: str) -> str:
    """A text as readers see it: zero-width characters dropped, blanks joined, none at the ends."""
    return " ".join((text if text.isascii() else _INVISIBLE.sub("", text)).split())


def words_of(text: str) -> list[str]:
    """Words in lower case, without punctuation; each character of a script without blanks is a word."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).lower()
    return _WORD.findall(folded)
