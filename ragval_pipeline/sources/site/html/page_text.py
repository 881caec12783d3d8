"""The text of a page: all of it, and its content apart from the theme's furniture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.sources.site.html.blocks import Block, blocks_of
from ragval_pipeline.sources.site.html.furniture import content_element, is_furniture
from ragval_pipeline.sources.site.html.tree import parse_html

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["Block", "PageText", "page_texts"]

# Neither seen nor read by anybody.
_NEVER = ["script", "style", "template"]
# Not seen in a browser, and read by extractors that run no scripts.
_UNSEEN = "noscript"
_ATTRIBUTES = (("img", "alt"), ("img", "title"), ("a", "title"), ("abbr", "title"), ("a", "aria-label"))
_DESCRIPTIONS = re.compile(r"(?:og:|twitter:)?(?:description|title)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text.

    Attributes:
        title: Text of ``<title>``; None without one.
        body: Everything between ``<body>`` tags, furniture too: what any extractor could have taken for content.
        main: The content alone, one line or more per block.
        headings: (level 1..6, text) of the content's headings, without anchors and zero-width characters.
        blocks: The content's paragraphs, headings, items, table rows and code blocks, in order.
        attributes: Texts of attributes that extractors may take for text, a line each.
    """

    title: str | None
    body: str
    main: str
    headings: tuple[tuple[int, str], ...]
    blocks: tuple[Block, ...]
    attributes: str = ""


#: The text of what is no page.
NOTHING = PageText(None, "", "", (), ())


def page_texts(html: str) -> PageText:
    """Read the text off a page.

    Content is the article, main or role-main element, else the body, without navigation, asides, footers, breadcrumbs,
    edit links and the like. A page without a body, or without text, gives empty texts.
    """
    tree = parse_html(html)
    title, attributes = _title(tree), "\n".join(dict.fromkeys(_attribute_texts(tree)))
    tree.strip_tags(_NEVER, recursive=True)
    body = tree.body
    if body is None:  # a frameset
        return PageText(title, "", "", (), (), attributes)
    area = content_element(body)
    framed = area.mem_id == body.mem_id

    def skip(node: LexborNode, inside: str | None) -> bool:
        return node.tag == _UNSEEN or is_furniture(node, inside=inside, framed=framed)

    every, blocks = blocks_of(body, area, skip)
    return PageText(
        title=title,
        body=_joined(every),
        main=_joined(blocks),
        headings=tuple((block.level, block.text) for block in blocks if block.kind == "heading"),
        blocks=tuple(blocks),
        attributes=attributes,
    )


def _title(tree: LexborHTMLParser) -> str | None:
    node = tree.css_first("head > title")
    return (" ".join(node.text().split()) or None) if node else None


def _attribute_texts(tree: LexborHTMLParser) -> Iterator[str]:
    """What extractors may take for text although no reader sees it: it is the page's all the same."""
    for tag, name in _ATTRIBUTES:
        for node in tree.css(f"{tag}[{name}]"):
            text = " ".join((node.attributes[name] or "").split())
            if text:
                yield text
    for node in tree.css("meta[content]"):
        known = node.attributes.get("name") or node.attributes.get("property") or ""
        if _DESCRIPTIONS.fullmatch(known):
            yield " ".join((node.attributes["content"] or "").split())


def _joined(blocks: list[Block]) -> str:
    return "\n".join(block.text for block in blocks)
