"""Separating a page's content from the boilerplate of its documentation theme.

The rules name roles, elements and whole class names of Docusaurus, MkDocs Material, Sphinx (RTD, Furo, PyData),
VitePress, Starlight, mdBook and rustdoc. Never parts of class names: "navbar" is also in Docusaurus'
``anchorTargetStickyNavbar``, which is on every heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_ANY_HEADING = ", ".join(sorted(HEADINGS))
# Buttons that expand content: a tool button has no paragraph in it.
_TOLD_BY_BUTTONS = f"{_ANY_HEADING}, p"
_ELEMENTS = frozenset({"nav", "dialog", "select", "datalist", "iframe"})
# Only the visible text of drawings and formulas: a formula's source would repeat it.
_UNSEEN = frozenset({"annotation", "annotation-xml", "title", "desc", "metadata"})
_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "doc-toc"}
)
_CLASS_NAMES = (
    # breadcrumbs, previous and next
    "breadcrumb breadcrumbs wy-breadcrumbs pagination-nav prev-next prev-next-area prev-next-footer related-pages "
    "rst-footer-buttons nav_table nav-panel nav-wrapper nav-chapters mobile-nav-chapters skip-link skip-to-content "
    "md-skip skipnav "
    # contents of this page
    "toc table-of-contents local-toc page-toc on-this-page theme-doc-toc-mobile theme-doc-toc-desktop "
    "vpdocasideoutline sphinxsidebar bd-sidebar-secondary bd-header-article "
    # links of a heading to itself
    "headerlink header-anchor hash-link anchor-link heading-anchor sl-anchor-link doc-anchor anchorjs-link "
    # edit, source, version, feedback
    "edit-link edit-page edit-this-page edit-page-link theme-edit-this-page theme-last-updated last-updated "
    "content-icon-container viewcode-link md-content__button md-source-file md-feedback theme-doc-version-badge "
    "theme-doc-version-banner "
    # duplicates: KaTeX formulas; buttons and line numbers of code
    "katex-html copybtn copy-btn copy-button btn-copy linenos lineno linenodiv line-number line-numbers "
    "line-numbers-wrapper "
    # for screen readers only
    "sr-only visually-hidden screen-reader-only screen-reader-text"
)
_CLASSES = frozenset(_CLASS_NAMES.split())
# An aside of one of these kinds is part of the text, as docutils and Starlight write footnotes and admonitions.
_CONTENT_ASIDE = re.compile(r"(?:^|[\s_-])(?:footnotes?|footnote-list|topic|admonition|callout|alert|note)(?:$|[\s_-])")
# Sphinx before it wrote role=main, microdata, and pages rendered as GitHub does.
_OF_OLD_THEMES = "div.bodywrapper div.body, [itemprop=articleBody], .markdown-body"
# Only if a page has neither main nor article: names of the content element of plain pages.
_FRAME_NAMES = "nav navbar navigation menu topbar header footer page-header page-footer"
_FRAME = frozenset(_FRAME_NAMES.split())
#: Except with paragraphs: DocBook uses it for sidebars by the author.
_ASIDE = frozenset({"sidebar", "side-bar"})
_FRAME_TAGS = frozenset({"header", "div", "section", "ul", "ol", "table", "td"})
_EDIT_TEXT = re.compile(
    r"(?:edit|improve|view|show|suggest)\b.{0,20}\b(?:page|source|doc|docs|document|edits?|github|gitlab)\W*",
    re.IGNORECASE,
)
_SKIP_TEXT = re.compile(r"\s*skip to\b.{0,30}$", re.IGNORECASE)
#: Labels of links to the previous or next page, in their own element before that page's title.
_NEIGHBOUR = re.compile(r"\W*(?:previous|prev|next)(?: (?:page|article|chapter))?\W*", re.IGNORECASE)
_BLANKS = bytes(code for code in range(128) if chr(code).isspace())
_EDIT_HREF = re.compile(r"/(?:-/)?(?:edit|blob|tree|raw)/|_sources/")


def content_element(body: LexborNode) -> tuple[LexborNode, bool]:
    """The element with the page's content, and whether it is marked as such.

    Marked are an article, main, role main and elements of known themes; else it is the element with most of the page.
    An article counts if it is the only one of the main element and has the page's H1 and half of its text: on index
    pages each card is an article.
    """
    mains = _outermost(body.css("main, [role=main]")) or _outermost(body.css(_OF_OLD_THEMES))
    size, main = max(((_size(main), main) for main in mains), key=itemgetter(0), default=(0, body))
    area = main if size else body
    articles = _outermost(area.css("article"))
    if len(articles) == 1 and _size(articles[0]) >= (size or _size(body)) / 2:
        titled = area.css_first("h1") is None or articles[0].css_first("h1") is not None
        return (articles[0], True) if titled else (area, bool(size))
    return (area, True) if size else (_most_of(body), False)


def _most_of(body: LexborNode) -> LexborNode:
    """The innermost element with every H1, two thirds of the headings and half of the text, and no similar sibling.

    DocBook, Texinfo and hand-made themes put navigation under their own names before and after it. A section that is
    most of a page has other sections as siblings.
    """
    headings, titles = body.css(_ANY_HEADING), len(body.css("h1"))
    within = Counter(node.mem_id for heading in headings for node in _ancestors(heading))
    area, size = body, _size(body) if headings else 0
    while size:
        inner = next((node for node in area.iter() if within[node.mem_id] >= len(headings) * 2 / 3), None)
        if inner is None or inner.tag == "header" or len(inner.css("h1")) < titles or _size(inner) < size / 2:
            break
        beside = [(node.tag, node.attributes.get("class")) for node in area.iter() if within[node.mem_id]]
        if beside.count((inner.tag, inner.attributes.get("class"))) > 1:
            break
        area = inner
    return area


def is_furniture(node: LexborNode, *, inside: str | None, framed: bool) -> bool:
    """Whether an element within the content element is not content, with everything in it.

    Args:
        node: The element.
        inside: Tag of the enclosing heading or block, if any.
        framed: Whether no element is marked as content, so that navigation must still be recognised.
    """
    tag, attributes = node.tag, node.attributes
    if tag in _ELEMENTS or tag in _UNSEEN or (attributes.get("role") or "").lower() in _ROLES:
        return True
    if tag == "button":
        return not (_is_heading_button(node) if inside in HEADINGS else node.css_first(_TOLD_BY_BUTTONS))
    if tag == "footer":
        return inside != "blockquote"
    classes = (attributes.get("class") or "").lower()
    if tag == "aside":
        return _CONTENT_ASIDE.search(classes) is None
    if tag == "a" and _is_service_link(node, attributes, in_heading=inside in HEADINGS):
        return True
    if attributes.get("aria-hidden") == "true" or (classes and _is_named_furniture(node, classes.split())):
        return node.css_first("h1") is None
    return framed and _is_frame(node, classes.split())


def _is_heading_button(button: LexborNode) -> bool:
    """Whether a button within a heading is its text, which expands content, and not a tool next to it."""
    heading = button.parent
    while heading is not None and heading.tag not in HEADINGS:
        heading = heading.parent
    if heading is None:
        return False
    in_buttons = sum(_letters(node) for node in _outermost(heading.css("button")))
    return _letters(heading) == in_buttons


def _is_named_furniture(node: LexborNode, classes: list[str]) -> bool:
    if not _CLASSES.isdisjoint(classes) or ("contents" in classes and "topic" in classes):
        return True
    # VitePress labels a code block with its language.
    parent = node.parent
    if classes != ["lang"] or parent is None:
        return False
    return (parent.attributes.get("class") or "").startswith("language-")


def _is_service_link(node: LexborNode, attributes: dict[str, str | None], *, in_heading: bool) -> bool:
    label, _, title = node.text(separator="\n", strip=True).partition("\n")
    if title and _NEIGHBOUR.fullmatch(label) and not node.text(deep=False).strip():
        return True
    href = attributes.get("href") or ""
    if in_heading and "#" in href:  # a heading's permalink: a pilcrow, a hash, an icon, nothing
        return not any(character.isalnum() for character in node.text())
    if href.startswith("#") and _SKIP_TEXT.match(node.text()):
        return True
    return bool(_EDIT_HREF.search(href)) and _EDIT_TEXT.fullmatch(node.text().strip()) is not None


def _is_frame(node: LexborNode, classes: list[str]) -> bool:
    names = [*classes, (node.attributes.get("id") or "").lower()]
    named = node.tag == "header" or (node.tag in _FRAME_TAGS and not _FRAME.isdisjoint(names))
    beside = not named and node.tag in _FRAME_TAGS and not _ASIDE.isdisjoint(names) and not _is_told(node)
    return (named or beside) and node.css_first("h1") is None


def _is_told(node: LexborNode) -> bool:
    """Whether an element has paragraphs and is mostly not links."""
    return node.css_first("p") is not None and 2 * sum(map(_letters, _outermost(node.css("a")))) < _letters(node)


def _outermost(nodes: list[LexborNode]) -> list[LexborNode]:
    if len(nodes) < 2:
        return nodes
    known = {node.mem_id for node in nodes}
    return [node for node in nodes if known.isdisjoint(above.mem_id for above in _ancestors(node))]


def _ancestors(node: LexborNode) -> Iterator[LexborNode]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _letters(node: LexborNode) -> int:
    return sum(character.isalpha() for character in node.text())


def _size(node: LexborNode) -> int:
    # noscript content is ignored.
    return _characters(node) - sum(map(_characters, _outermost(node.css("noscript"))))


def _characters(node: LexborNode) -> int:
    text = node.text()
    return len(text.encode().translate(None, _BLANKS)) if text.isascii() else sum(map(len, text.split()))
