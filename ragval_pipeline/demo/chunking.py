"""Extracting the text blocks of a page's HTML, and chunking them by headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


FURNITURE = "nav, aside, header, footer, script, style"
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4}
_LEAVES = ("p", "li", "blockquote")


@dataclass(frozen=True)
class Block:
    """A heading, paragraph, list item or the like.

    Attributes:
        text: Without markup, whitespace collapsed; code keeps its lines.
        level: 1 to 4 for a heading, 0 for anything else.
    """

    text: str
    level: int = 0


def article_blocks(html: str) -> list[Block]:
    """The blocks of a page's ``article`` element in reading order; empty if it has none."""
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


#: A subsection with fewer words than this joins the one before it.
MIN_WORDS = 50
#: A section with more words than this is split at its subheadings.
JOINED_WORDS = 120
#: A section or subsection with more words than this is split between two blocks.
MAX_WORDS = 220


@dataclass(frozen=True)
class Chunk:
    """A part of a page that can be understood alone.

    Attributes:
        headings: Page title, section, subsection: down to the level at which the chunk begins.
        body: The text below them exactly as on the page, one line per block.
    """

    headings: tuple[str, ...]
    body: str

    @property
    def text(self) -> str:
        """What is embedded and stored: the headings, one per line, then the body."""
        return "\n".join((*self.headings, self.body))


@dataclass(frozen=True)
class _Section:
    """Blocks below one heading; ``lines`` begins with the heading itself if it is not one of the chunk's headings."""

    headings: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def words(self) -> int:
        return sum(len(line.split()) for line in self.lines)

    def followed_by(self, other: _Section) -> _Section:
        return _Section(self.headings, (*self.lines, other.headings[-1], *other.lines))


def chunk_page(blocks: Sequence[Block]) -> list[Chunk]:
    """Chunks of a page, in reading order, of about 60 to 220 words.

    A section (H2) with its subsections (H3) is one chunk if short enough, else it is split at its H3 headings, and
    parts that are still too long between two blocks. The text between the H1 and the first H2 is a separate chunk.

    Returns:
        Chunks with a body that is not empty.
    """
    chapters = groupby(_sections(blocks), key=lambda section: section.headings[:2])
    pieces = [piece for _, sections in chapters for piece in _joined(list(sections))]
    return [Chunk(part.headings, "\n".join(part.lines)) for piece in pieces for part in _divided(piece) if part.lines]


def _sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    path: tuple[str, ...] = ()
    lines: list[str] = []
    for block in blocks:
        if not block.level:
            lines.append(block.text)
            continue
        if path:
            yield _Section(path, tuple(lines))
        path, lines = (*path[: block.level - 1], block.text), []
    if path:
        yield _Section(path, tuple(lines))


def _joined(sections: list[_Section]) -> list[_Section]:
    """Join the subsections of one section: all if they fit, else those that are too short."""
    fits = sum(section.words for section in sections) <= JOINED_WORDS
    joined = sections[:1]
    for section in sections[1:]:
        if fits or min(joined[-1].words, section.words) < MIN_WORDS:
            joined[-1] = joined[-1].followed_by(section)
        else:
            joined.append(section)
    return joined


def _divided(section: _Section) -> list[_Section]:
    """Split a long section between lines, into parts of about equal length."""
    parts = -(-section.words // MAX_WORDS)
    if parts <= 1:
        return [section]
    target = section.words / parts
    divided: list[_Section] = []
    lines: list[str] = []
    for line in section.lines:
        lines.append(line)
        if len(divided) < parts - 1 and sum(len(line.split()) for line in lines) >= target:
            divided.append(_Section(section.headings, tuple(lines)))
            lines = []
    return [*divided, _Section(section.headings, tuple(lines))]
