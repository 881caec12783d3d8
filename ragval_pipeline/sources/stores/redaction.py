"""Texts replaced by nonsense of the same shape, so that an index can be shown to others.

For each letter one of its script and case is drawn, for each digit a digit; blanks, punctuation, lengths and the names
of HTML elements stay, and so do entities, which become others. One word always becomes the same nonsense: what is
stored twice still is. Scripts without blanks are replaced character by character. Names of payload fields are words of
somebody, too: those that are not in common use are replaced.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import struct
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html.entities import html5
from itertools import count
from typing import Any

from ragval_pipeline.text.characters import UNSPACED
from ragval_pipeline.text.markup import TAGS

#: Letters and digits of one word; the name of an HTML element is left as it is, and an entity becomes another.
_WORDS = re.compile(
    rf"(?P<tag></?(?:{TAGS})(?=[\s/>]))|&(?:\#(?P<number>x[0-9a-f]{{1,6}}|[0-9]{{1,7}})|(?P<entity>[A-Za-z][A-Za-z0-9]{{1,31}}));"
    r"|(?P<word>[^\W_]+)",
    re.IGNORECASE,
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
#: Digests of a text, by their number of hexadecimal digits.
_DIGESTS = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}
#: Canonical fields that hold no text of readers: addresses, ids, numbers, times and names of models.
KEPT = ("source_url", "chunk_index", "token_count", "chunk_id", "parent_id", "model", "embedded_at", "original_length")


def _all(name: str) -> bool:
    return True


@dataclass(frozen=True)
class Redactor:
    """Replaces texts; two redactors replace differently.

    Attributes:
        kept: Paths of the payload whose values stay as they are.
        text_at: Path of the text.
        hash_at: Path of its hash, which becomes that of the nonsense if it was that of the text.
        is_common: Whether the name of a field stays as it is.
        is_model: Whether a field of the collection's own metadata names the model, which stays.
    """

    kept: Collection[str] = ()
    text_at: str | None = None
    hash_at: str | None = None
    is_common: Callable[[str], bool] = _all
    is_model: Callable[[str], bool] = _all
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    #: What names of fields became, and all of these.
    _names: dict[str, str] = field(default_factory=dict, repr=False)
    _taken: set[str] = field(default_factory=set, repr=False)

    def payload(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """A payload with nonsense for its texts, and for names of fields that are not in common use."""
        made = {self._name(name): self._value(value, name) for name, value in payload.items()}
        text, stored = (payload.get(name or "") for name in (self.text_at, self.hash_at))
        if self.hash_at is not None and isinstance(text, str) and isinstance(stored, str):
            is_of_text = stored.lower() == _digest(text, len(stored))
            made[self.hash_at] = _digest(self.text(text), len(stored)) if is_of_text else self.text(stored)
        return made

    def metadata(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """The collection's own metadata, like a payload."""
        return {
            self._name(name): value if self.is_model(name) else self._value(value, "")
            for name, value in metadata.items()
        }

    def text(self, text: str) -> str:
        """The nonsense for a text."""
        return _WORDS.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        if found["number"]:
            return f"&#{self._number(found['number'])};"
        if found["entity"]:
            alike = _entities_like(found["entity"])
            return f"&{alike[self._drawn(found['entity'])[0] % len(alike)] if alike else self._word(found['entity'])};"
        return found["tag"] or self._word(found["word"])

    def _number(self, digits: str) -> str:
        """The number of a character like the one with this number; of no character, nonsense."""
        in_hex = digits[0] in "xX"
        number = int(digits[1:], 16) if in_hex else int(digits)
        if number > sys.maxunicode:
            return self._word(digits)
        made = ord(self._word(chr(number))) if chr(number).isalnum() else number
        return f"{digits[0]}{made:0{len(digits) - 1}x}" if in_hex else f"{made:0{len(digits)}}"

    def _name(self, name: str) -> str:
        """What a field is called: names stay different."""
        if self.is_common(name):
            return name
        if name not in self._names:
            tries = (self.text(f"{name}{number or ''}") for number in count())
            made = next(made for made in tries if made not in self._taken and not self.is_common(made))
            self._names[name] = made
            self._taken.add(made)
        return self._names[name]

    def _value(self, value: Any, path: str) -> Any:
        if path in self.kept:
            return value
        if isinstance(value, str):
            return self._json(value, path) or self.text(value)
        if isinstance(value, Mapping):
            return {self._name(name): self._value(inner, f"{path}.{name}") for name, inner in value.items()}
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
        return json.dumps({self._name(name): self._value(inner, f"{path}#{name}") for name, inner in found.items()})

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


@cache
def _entities() -> Mapping[tuple[int, str], list[str]]:
    """The named entities of one letter, by the length of their name and the letter's kind."""
    found = defaultdict(list)
    for name, char in html5.items():
        if name.endswith(";") and len(char) == 1 and char.isalpha():
            found[len(name) - 1, unicodedata.category(char)].append(name[:-1])
    return found


def _entities_like(name: str) -> list[str]:
    """The entities that a named one may become: itself if it is no letter; empty for no entity."""
    char = html5.get(f"{name};")
    if char is None or not char.isalpha():
        return [] if char is None else [name]
    return _entities().get((len(name), unicodedata.category(char[0])), [])


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
