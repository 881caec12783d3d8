"""The text of a page, one block per paragraph, heading, item, table row and code block: all of it, and its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote

from ragval_pipeline.sources.site.html.document import may_need_scripts, parse_html
from ragval_pipeline.sources.site.html.furniture import HEADINGS, content_element, is_furniture
from ragval_pipeline.sources.site.html.hidden import Hidden, hidden_instructions
from ragval_pipeline.text.folding import fold_blanks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


Kind = Literal["paragraph", "heading", "item", "row", "code"]
Skip = Callable[["LexborNode", str | None], bool]

_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search "
    "section summary table tbody td tfoot th thead tr ul"
)
_BLOCK_TAGS = frozenset(_BLOCK_NAMES.split())
# Inline, but visually separate: a blank separates their words.
_SPACED_TAGS = frozenset({"button", "label", "input", "select", "textarea", "text", "title", "desc", "iframe"})
#: Elements that affect how text is cut; of others only the content matters.
_NOT_INLINE = _BLOCK_TAGS | _SPACED_TAGS | {"br"}
_ITEM_TAGS = frozenset({"li", "dt", "dd"})
# A row with one of these is page layout or a listing, not a row of a data table.
_NOT_IN_A_ROW = "h1, h2, h3, h4, h5, h6, pre, table, article, section, form"
LONGEST_ROW = 3000


class Block(NamedTuple):
    """A piece of a page's text; ``level`` is 1 to 6 for a heading, else 0; cells of a row are separated by tabs."""

    kind: Kind
    text: str
    level: int = 0


@dataclass(slots=True)
class _Context:
    """The context of a run of text; in a flat context inner blocks become blanks instead of separate blocks."""

    kind: Kind
    tag: str
    flat: bool = False


@dataclass(slots=True)
class _Leave:
    """Marks the end of an element on the stack."""

    tag: str
    pushed: bool
    hid: bool
    is_area: bool


@dataclass
class _Writer:
    """Collects text and cuts it into blocks: of everything, and of the content only."""

    every: list[Block] = field(default_factory=list)
    content: list[Block] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    context: _Context = field(default_factory=lambda: _Context("paragraph", "body"))
    outer: list[_Context] = field(default_factory=list)
    #: Whether the current position is content.
    showing: bool = False

    def flush(self) -> None:
        parts, shown = self.parts, self.shown
        block = _block(self.context, parts) if parts else None
        if block is not None:
            self.every.append(block)
        if self.showing and shown:
            own = block if shown == parts else _block(self.context, shown)
            if own is not None:
                self.content.append(own)
            shown.clear()
        parts.clear()

    def flush_content(self) -> None:
        own = _block(self.context, self.shown) if self.shown else None
        if own is not None:
            self.content.append(own)
        self.shown.clear()

    def write(self, text: str) -> None:
        self.parts.append(text)
        if self.showing:
            self.shown.append(text)

    def text(self, text: str) -> None:
        if self.context.kind == "code":
            self.write(text)
        elif text.isspace():  # as between most tags; whitespace never begins a block
            for parts in (self.parts, self.shown) if self.showing else (self.parts,):
                if parts:
                    parts.append(" ")
        else:
            # Whitespace is collapsed when the block is complete: source lines and tabs have no meaning.
            self.write(text.replace("\n", " ").replace("\t", " "))

    def boundary(self, tag: str) -> None:
        """Separate the text before and after a block boundary."""
        if self.context.kind == "code":
            for parts in (self.parts, self.shown) if self.showing else (self.parts,):
                if parts and not parts[-1].endswith("\n"):
                    parts.append("\n")
        elif self.context.flat:
            self.write("\t" if tag in ("td", "th") else " ")
        elif self.parts or self.shown:
            self.flush()

    def enter(self, node: LexborNode, tag: str) -> bool:
        """Begin an element; return whether it has its own context."""
        if tag == "br":
            self.write(" " if self.context.flat else "\n")
        elif tag in _SPACED_TAGS:
            self.write(" ")
        elif tag in _BLOCK_TAGS:
            self.boundary(tag)
            own = None if self.context.flat or self.context.kind == "code" else self.own_context(node, tag)
            if own is not None:
                self.outer.append(self.context)
                self.context = own
                return True
        return False

    def own_context(self, node: LexborNode, tag: str) -> _Context | None:
        if tag in HEADINGS:
            return _Context("heading", tag, flat=True)
        if tag == "pre":
            return _Context("code", tag)
        if tag in _ITEM_TAGS:
            return _Context("item", tag)
        if tag == "blockquote":
            return _Context(self.context.kind, tag)
        if tag == "tr" and node.css_first(_NOT_IN_A_ROW) is None and len(node.text()) <= LONGEST_ROW:
            return _Context("row", tag, flat=True)
        return None

    def leave(self, end: _Leave) -> None:
        if end.pushed:
            self.flush()
            self.context = self.outer.pop()
        elif end.tag in _BLOCK_TAGS:
            self.boundary(end.tag)
        elif end.tag in _SPACED_TAGS:
            self.write(" ")
        if end.is_area:
            self.flush_content()
            self.showing = False
        elif end.hid:
            self.showing = True


def blocks_of(root: LexborNode, area: LexborNode, skip: Skip) -> tuple[list[Block], list[Block]]:
    """Cut the text of an element into blocks, in page order, and that of its content only.

    Inline elements are joined directly, so that words stay whole; boundaries of blocks, cells and ``<br>`` separate
    words. Whitespace is collapsed except in code.

    Args:
        root: The element.
        area: The element in it, or itself, with the content.
        skip: Whether an element of the area is not content, given the tag of the nearest enclosing heading, item, row,
            code or quotation.

    Returns:
        All blocks, and those of the content.
    """
    writer, content = _Writer(), area.mem_id
    # An explicit stack: unclosed elements may nest deeper than Python can recurse.
    stack: list[tuple[Iterator[LexborNode], _Leave | None]] = []
    nodes: Iterator[LexborNode] = iter((root,))
    while True:
        for node in nodes:
            if node.is_text_node:
                writer.text(node.text_content or "")
                continue
            if not node.is_element_node:
                continue
            tag, hides, begins = node.tag or "", False, False
            if writer.showing:
                hides = skip(node, writer.context.tag)
                writer.showing = not hides
            elif node.mem_id == content:
                if writer.outer:  # in an item or a cell: its content is cut differently from the item
                    return blocks_of(root, root, lambda *_: False)[0], blocks_of(area, area, skip)[1]
                writer.showing = begins = True
            pushed = writer.enter(node, tag) if tag in _NOT_INLINE else False
            ends = hides or begins or tag in _NOT_INLINE
            stack.append((nodes, _Leave(tag, pushed, hides, begins) if ends else None))
            nodes = node.iter(include_text=True)
            break
        else:
            if not stack:
                break
            nodes, leave = stack.pop()
            if leave is not None:
                writer.leave(leave)
    writer.flush()
    return writer.every, writer.content


def _block(context: _Context, parts: list[str]) -> Block | None:
    text = _cleaned("".join(parts), context.kind)
    return Block(context.kind, text, int(context.tag[1]) if context.kind == "heading" else 0) if text else None


def _cleaned(text: str, kind: Kind) -> str:
    if kind == "code":
        return text.strip("\r\n").rstrip()
    if kind == "row":
        cells = (" ".join(cell.split()) for cell in text.split("\t"))
        return "\t".join(cell for cell in cells if cell)
    if kind == "heading":
        return fold_blanks(text)
    if "\n" not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


# Neither visible nor extracted.
_NEVER = ["script", "style", "template"]
# Not visible in a browser, but read by extractors that run no scripts.
_UNSEEN = "noscript"
_ATTRIBUTES = (("img", "alt"), ("img", "title"), ("a", "title"), ("abbr", "title"), ("a", "aria-label"))
_DESCRIPTIONS = re.compile(r"(?:og:|twitter:)?(?:description|title)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text.

    Attributes:
        title: Text of ``<title>``; None without one.
        body: Everything between ``<body>`` tags, boilerplate too: what any extractor could have taken for content.
        main: The content only, one line or more per block.
        headings: (level 1..6, text) of the content's headings, without anchors and zero-width characters.
        blocks: The content's paragraphs, headings, items, table rows and code blocks, in order.
        attributes: Texts of attributes that extractors may take for text, a line each.
        scripted: Whether it may be built in the browser.
        hidden: What it hides from its readers and that speaks to a model.
    """

    title: str | None
    body: str
    main: str
    headings: tuple[tuple[int, str], ...]
    blocks: tuple[Block, ...]
    attributes: str = ""
    scripted: bool = False
    hidden: tuple[Hidden, ...] = ()


#: The text if there is no page.
NOTHING = PageText(None, "", "", (), ())


def page_texts(html: str) -> PageText:
    """Extract the text of a page.

    Content is the article, main or role-main element, else the element with most of the page, without navigation,
    asides, footers, breadcrumbs, edit links and the like. A page without a body, or without text, gives empty texts.
    """
    tree = parse_html(html)
    title, attributes = _title(tree), "\n".join(dict.fromkeys(_attribute_texts(tree)))
    scripted, hidden = may_need_scripts(tree), hidden_instructions(tree, html)
    tree.strip_tags(_NEVER, recursive=True)
    body = tree.body
    if body is None:  # a frameset
        return PageText(title, "", "", (), (), attributes)
    area, marked = content_element(body)

    def skip(node: LexborNode, inside: str | None) -> bool:
        return node.tag == _UNSEEN or is_furniture(node, inside=inside, framed=not marked)

    every, blocks = blocks_of(body, area, skip)
    blocks = [block for block in blocks if not _is_numbering(block)]
    return PageText(
        title=title,
        body=_joined(every),
        main=_joined(blocks),
        headings=tuple((block.level, block.text) for block in blocks if block.kind == "heading"),
        blocks=tuple(blocks),
        attributes=attributes,
        scripted=scripted,
        hidden=hidden,
    )


def _is_numbering(block: Block) -> bool:
    """Whether a block is the line numbers of code, shown next to it in a table."""
    lines = block.text.split() if block.kind == "code" else ()
    return (
        len(lines) > 1 and lines[0].isdecimal() and lines == [str(int(lines[0]) + step) for step in range(len(lines))]
    )


def _title(tree: LexborHTMLParser) -> str | None:
    node = tree.css_first("head > title")
    return (" ".join(node.text().split()) or None) if node else None


def _attribute_texts(tree: LexborHTMLParser) -> Iterator[str]:
    """Attribute texts that extractors may take for text although no reader sees them."""
    for tag, name in _ATTRIBUTES:
        for node in tree.css(f"{tag}[{name}]"):
            # A drawing's a[xlink:title] is found by the name without its prefix, too.
            text = " ".join((node.attributes.get(name) or "").split())
            if text:
                yield text
    for node in tree.css('a[href^="mailto:"], a[href^="tel:"]'):  # as Markdown of the page has it
        yield unquote((node.attributes["href"] or "").partition(":")[2].partition("?")[0])
    for node in tree.css("annotation"):  # the source of a formula
        yield " ".join(node.text().split())
    for node in tree.css("meta[content]"):
        known = node.attributes.get("name") or node.attributes.get("property") or ""
        if _DESCRIPTIONS.fullmatch(known):
            yield " ".join((node.attributes.get("content") or "").split())


def _joined(blocks: list[Block]) -> str:
    return "\n".join(block.text for block in blocks)
