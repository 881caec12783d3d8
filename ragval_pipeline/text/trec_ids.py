"""Encoding ids as columns of TREC files, which are separated by blanks, and decoding them."""

from __future__ import annotations

import re

#: Characters that split lines, control terminals or change how a line reads, and lone surrogates, which UTF-8 cannot
#: hold.
_UNSAFE = "\\s\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_ESCAPES = re.compile(
    "%(?:25|00|[01][0-9A-F]|20|7F|C0%80|C2%[89][0-9A-F]|C2%A0|D8%9C|E1%9A%80|E2%80%(?:8[0-9AEF]|A[89A-F])"
    "|E2%81%(?:9F|A[6-9])|E3%80%80|ED%[AB][0-9A-F]%[89AB][0-9A-F])"
)
#: NUL in two bytes, as Java writes it: ``%00`` stands for the empty id.
_NUL = "%C0%80"
_TO_ENCODE = re.compile(f"[{_UNSAFE}]|%(?={_ESCAPES.pattern.removeprefix('%')})")
#: Encodes the empty id, which would be no column at all; the same text as an id is written ``%2500``.
_EMPTY = "%00"


def encode_id(name: str) -> str:
    """An id as one column: blanks are percent-encoded, and a percent sign only where it would read as such a code.

    ``decode_id`` restores the id; ids without blanks stay unchanged, so that they match files of other tools.
    """
    return _TO_ENCODE.sub(lambda match: _percent(match.group()), name) if name else _EMPTY


def decode_id(column: str) -> str:
    """The id that ``encode_id`` made ``column`` of."""
    if column == _EMPTY:
        return ""
    return _ESCAPES.sub(lambda match: _plain(match.group()), column)


def _percent(character: str) -> str:
    if character == "\0":
        return _NUL
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _plain(escape: str) -> str:
    if escape == _NUL:
        return "\0"
    return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "surrogatepass")
