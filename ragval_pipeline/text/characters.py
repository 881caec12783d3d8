"""The one set of invisible characters, the scripts without blanks, and when a text says nothing at all."""

from __future__ import annotations

import unicodedata

#: Characters that take no room: soft hyphen, joiners and zero-width spaces, direction marks, invisible operators,
#: byte order mark.
ZERO_WIDTH = (
    "\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
#: Scripts written without blanks between words, as the inside of a character class: each character counts as a word.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
#: Letters and marks by category, and yet nothing to see: Hangul fillers, Braille blank, variation selectors.
_INVISIBLE = frozenset(ZERO_WIDTH + "\u115f\u1160\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10))))


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but blanks, control and zero-width characters."""
    return all(char.isspace() or char in _INVISIBLE or unicodedata.category(char) in {"Cc", "Cf"} for char in text)
