"""Components of MDX whose opening tag has code: ``<Cards items={[{title: 'Motor'}]} />``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_OPENING = re.compile(r"(?<![\w.])<[A-Z][\w.]*\s+[A-Za-z][\w:-]*(?==\{|[^<>{}]{0,300}?=\{)")
#: What an opening tag has between its values.
_BETWEEN = re.compile(r"[\w\s:@.=-]*")
_ENDS = re.compile(r"/?>")
_QUOTES = "\"'`"
#: In code: a text in quotes, or a bracket.
_TOKEN = re.compile(r"`(?:\\.|[^`\\])*(?:`|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[{}]", re.DOTALL)
#: Where code ends in an opening tag.
_CLOSING = re.compile(r"\}(?=\s*(?:/?>|[A-Za-z][\w-]*=[{\"']))")
#: What a page may show of such a tag: texts in quotes, and lines of longer texts.
_PIECE = re.compile(rf"[^{_QUOTES}\n]+")


class _Tag(NamedTuple):
    """An opening tag with code.

    Attributes:
        start: Its first character.
        end: The character after it.
        name: Its name and its first attribute, or nothing if the chunk begins within it.
    """

    start: int
    end: int
    name: str


def without_components(text: str, *, shows: Callable[[str], bool]) -> str:
    """The text without what its page does not show of the code in opening tags; other characters keep their position.

    Args:
        text: The text.
        shows: Whether the page shows a text. A page that shows the name of a tag and of its first attribute together,
            or most lines of what the chunk's beginning leaves of a tag, shows the tag itself, as an example.
    """
    if "{" not in text and "}" not in text:
        return text
    parts, at = list[str](), 0
    for tag in _tags(text):
        code = text[tag.start : tag.end]
        if not (shows(tag.name) if tag.name else _shows_most(code, shows)):
            parts += text[at : tag.start], _PIECE.sub(lambda piece: _blanked(piece[0], shows), code)
            at = tag.end
    return "".join(parts) + text[at:]


def _blanked(piece: str, shows: Callable[[str], bool]) -> str:
    return piece if shows(piece) else " " * len(piece)


def _shows_most(code: str, shows: Callable[[str], bool]) -> bool:
    lines = code.split("\n")
    return 2 * sum(len(line) for line in lines if shows(line)) >= sum(map(len, lines))


def _tags(text: str) -> Iterator[_Tag]:
    at = _end_of_rest(text)
    if at:
        yield _Tag(0, at, "")
    while opening := _OPENING.search(text, at):
        end = _end_of_tag(text, opening.end())
        at = opening.end()
        if end is not None:
            yield _Tag(opening.start(), end, opening[0])
            at = end


def _end_of_rest(text: str) -> int:
    """Where a tag ends that began before the text, with more brackets closed than opened; 0 without one."""
    depth = at = 0
    for closing in _CLOSING.finditer(text):
        depth += text.count("{", at, closing.start()) - text.count("}", at, closing.end())
        at = closing.end()
        if depth < 0:
            return _end_of_tag(text, at) or 0
    return 0


def _end_of_tag(text: str, at: int) -> int | None:
    """The character after an opening tag, from a position between its values; the text's end if it cuts the tag."""
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing as well
        if at == len(text):
            return at
        if ends := _ENDS.match(text, at):
            return ends.end()
        if text[at] in "\"'":
            at = (text.find(text[at], at + 1) + 1) or len(text)
        elif text[at] == "{":
            at = _end_of_code(text, at)
        else:
            return None


def _end_of_code(text: str, at: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, at):
        depth += (token[0] == "{") - (token[0] == "}")
        if not depth and token[0] == "}":
            return token.end()
    return len(text)
