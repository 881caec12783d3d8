"""Texts replaced by nonsense of the same shape, so that an index can be shown to others.

For each letter one of its script and case is drawn, for each digit a digit; blanks, punctuation, lengths and the names
of HTML elements stay. One word always becomes the same nonsense: what is stored twice still is. Scripts without blanks
are replaced character by character.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import struct
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ragval_pipeline.text.characters import UNSPACED

#: Letters and digits of one word; a name of an element or an entity is left as it is.
_WORDS = re.compile(r"(?P<markup></?[A-Za-z][A-Za-z0-9]{0,9}(?=[\s/>])|&#?[A-Za-z0-9]{2,8};)|(?P<word>[^\W_]+)")
_UNSPACED = re.compile(f"[{UNSPACED}]")
#: Digests of a text, by their number of hexadecimal digits.
_DIGESTS = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}
#: Canonical fields that hold no text of readers: addresses, ids, numbers, times and names of models.
KEPT = ("source_url", "chunk_index", "token_count", "chunk_id", "parent_id", "model", "embedded_at", "original_length")


@dataclass(frozen=True)
class Redactor:
    """Replaces texts; two redactors replace differently.

    Attributes:
        kept: Paths of the payload that stay as they are.
        text_at: Path of the text.
        hash_at: Path of its hash, which becomes that of the nonsense if it was that of the text.
    """

    kept: Collection[str] = ()
    text_at: str | None = None
    hash_at: str | None = None
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)

    def payload(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """A payload with the same keys, and nonsense for its texts."""
        made = {name: self._value(value, name) for name, value in payload.items()}
        text, stored = (payload.get(name or "") for name in (self.text_at, self.hash_at))
        if self.hash_at is not None and isinstance(text, str) and isinstance(stored, str):
            is_of_text = stored.lower() == _digest(text, len(stored))
            made[self.hash_at] = _digest(self.text(text), len(stored)) if is_of_text else self.text(stored)
        return made

    def text(self, text: str) -> str:
        """The nonsense for a text."""
        return _WORDS.sub(lambda found: found[0] if found["markup"] else self._word(found["word"]), text)

    def _value(self, value: Any, path: str) -> Any:
        if path in self.kept:
            return value
        if isinstance(value, str):
            return self._json(value, path) or self.text(value)
        if isinstance(value, Mapping):
            return {name: self._value(inner, f"{path}.{name}") for name, inner in value.items()}
        return [self._value(inner, path) for inner in value] if isinstance(value, list) else value

    def _json(self, value: str, path: str) -> str | None:
        """JSON that is stored as text, with its own texts replaced."""
        if not value.startswith("{"):
            return None
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict):
            return None
        return json.dumps({name: self._value(inner, f"{path}#{name}") for name, inner in found.items()})

    def _word(self, word: str) -> str:
        drawn = self._drawn(word.casefold())
        return "".join(
            _other(char, self._drawn(char)[0] if _UNSPACED.match(char) else drawn[place % len(drawn)])
            for place, char in enumerate(word)
        )

    def _drawn(self, word: str) -> tuple[int, ...]:
        """32 numbers of two bytes for a word."""
        found = hmac.digest(self._key, word.encode("utf-8", "surrogatepass"), "sha512")
        return struct.unpack("<32H", found)


def _digest(text: str, length: int) -> str:
    """The hash of a text with a number of hexadecimal digits; empty if there is none of that length."""
    name = _DIGESTS.get(length)
    return (
        ""
        if name is None
        else hashlib.new(name, text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    )


@lru_cache(maxsize=1 << 14)
def _other(char: str, number: int) -> str:
    """A letter or digit like ``char``: of its kind and case, and from its part of Unicode."""
    if char.isdecimal():
        return chr(ord(char) - unicodedata.decimal(char) + number % 10)
    lower = char.lower()
    if len(lower) != 1:
        return char
    pool = _letters(ord(lower) // 128, unicodedata.category(lower))
    found = pool[number % len(pool)] if pool else char
    upper = found.upper()
    return upper if char != lower and len(upper) == 1 else found


@lru_cache(maxsize=1 << 10)
def _letters(block: int, category: str) -> str:
    """The letters of a category in a part of Unicode of 128 characters, each with an upper case if it is lower."""
    found = (chr(code) for code in range(128 * block, 128 * block + 128))
    alike = [char for char in found if unicodedata.category(char) == category]
    return "".join(
        char for char in alike if category != "Ll" or (len(char.upper()) == 1 and char.upper().lower() == char)
    )
