"""The one set of invisible characters, the scripts without spaces, and the test for blank texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

#: Zero-width characters: soft hyphen, joiners and zero-width spaces, direction marks, invisible operators, byte order
#: mark.
ZERO_WIDTH = (
    "\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
#: Letters that a character of such a script counts as: it carries about half a word.
LETTERS_OF_UNSPACED = 2.5
#: Scripts without spaces between words, as the content of a character class: each character counts as a word.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
#: Letters and marks by category, but invisible: Hangul fillers, Braille blank, variation selectors.
_INVISIBLE = frozenset(ZERO_WIDTH + "\u115f\u1160\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10))))
_ROOMLESS = re.compile(f"[{ZERO_WIDTH}]")


def without_zero_width(text: str) -> str:
    """A text without zero-width characters."""
    return text if text.isascii() else _ROOMLESS.sub("", text)


def is_blank(text: str) -> bool:
    """Whether a text has only whitespace, control and zero-width characters."""
    return all(char.isspace() or char in _INVISIBLE or unicodedata.category(char) in {"Cc", "Cf"} for char in text)


def encodable(text: str) -> str:
    """The text without lone surrogates, which JSON allows and UTF-8 does not: they become U+FFFD.

    Applied to every text from a server or a search before native code or a file sees it.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


#: Levels of a payload with lone surrogates that are kept; deeper values are replaced by the name of their type.
_DEPTH = 64


def encodable_payload(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload with ``encodable`` names and texts; the same object if nothing changes."""
    if isinstance(payload, dict) and _is_encodable(payload):
        return payload
    return {encodable(str(name)): _encodable_value(value, _DEPTH) for name, value in payload.items()}


def _is_encodable(payload: Mapping[str, Any]) -> bool:
    left: list[Any] = [payload]  # not recursive: a payload may be nested as deeply as its JSON was
    while left:
        value = left.pop()
        if isinstance(value, str):
            if encodable(value) is not value:
                return False
        elif isinstance(value, Mapping):
            left += value.keys()
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
    return True


def _encodable_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not depth:
        return f"({type(value).__name__})"
    if isinstance(value, Mapping):
        return {encodable(str(name)): _encodable_value(entry, depth - 1) for name, entry in value.items()}
    return [_encodable_value(entry, depth - 1) for entry in value]
