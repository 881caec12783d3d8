"""From a page's HTML to the blocks of text that its author wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

FURNITURE = "nav, aside, header, footer, script, style"
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4}
_LEAVES = ("p", "li", "blockquote")


@dataclass(frozen=True)
class Block:
    """A piece of text that stands for itself.

    Args:
        text: Without markup, blanks folded; code keeps its lines.
        level: 1 to 4 for a heading, 0 for anything else.
    """

    text: str
    level: int = 0


def article_blocks(html: str) -> list[Block]:
    """The blocks of a page's ``article`` element in reading order; none when it has no such element."""
    from selectolax.lexbor import LexborHTMLParser

    article = LexborHTMLParser(html).css_first("article")
    if article is None:
        return []
    for node in article.css(FURNITURE):
        node.decompose()
    return [block for block in _walk(article) if block.text]


def _walk(node: LexborNode) -> Iterator[Block]:
    for child in node.iter():
        if child.tag in _HEADINGS:
            yield Block(_folded(child), level=_HEADINGS[child.tag])
        elif child.tag == "pre":
            yield Block(child.text().strip("\n"))
        elif child.tag == "tr":
            yield Block(" ".join(_folded(cell) for cell in child.iter()))
        elif child.tag in _LEAVES:
            yield Block(_folded(child))
        else:
            yield from _walk(child)


def _folded(node: LexborNode) -> str:
    return " ".join(node.text().split())
