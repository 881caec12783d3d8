"""Making text from an index safe for display.

Payloads may contain anything: control characters, direction overrides, lone surrogates.
"""

from __future__ import annotations

import re

from ragval_pipeline.text.characters import encodable

REPLACEMENT = "\ufffd"

# Tab and line breaks stay: they are layout.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# They can change how a line reads (CVE-2021-42574).
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
#: Words are cut only if longer than this, such as addresses and ids.
_LONGEST_WORD = 20
_BLANKS = re.compile(r"\s+")


def visible(text: str) -> str:
    """Text for a page: direction controls removed, other control characters made visible, line breaks kept."""
    return _CONTROLS.sub(REPLACEMENT, _DIRECTIONS.sub("", encodable(text)))


def one_line(text: str) -> str:
    """Text for one line of a terminal or table: whitespace collapsed, control and direction characters removed."""
    return _CONTROLS.sub("", _DIRECTIONS.sub("", _BLANKS.sub(" ", encodable(text)))).strip()


def xml_text(text: str) -> str:
    """Text for XML 1.0, which does not allow most control characters even escaped; viewers print the others raw."""
    return _NOT_XML.sub(REPLACEMENT, visible(text))


def shorten(text: str, length: int) -> str:
    """At most ``length`` characters of one line, in whole words, with an ellipsis if cut."""
    line = one_line(text)
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    blank = cut.rfind(" ")
    if line[length - 1] != " " and blank > 0 and length - blank <= _LONGEST_WORD:
        cut = cut[:blank]
    return f"{cut.rstrip()}…"
