"""Parsing a page in linear time, and its metadata for machines."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragval_pipeline.sources.site.urls import join

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


log = logging.getLogger(__name__)
#: Nesting levels parsed, as in Chromium: a parser scans all open elements at each tag.
DEPTH = 512
#: Elements that end at the next of their kind, or are void: unclosed ones do not nest.
_FLAT_NAMES = (
    "a button nobr h1 h2 h3 h4 h5 h6 p li dt dd option optgroup tr td th thead tbody tfoot caption colgroup rp rt html "
    "head body area base br col embed hr img input link meta param source track wbr"
)
_FLAT = frozenset(_FLAT_NAMES.split())
#: Drawings and formulas, in which ``<path/>`` is closed, and the elements in which HTML begins again.
_FOREIGN = frozenset({"svg", "math"})
_HTML_NAMES = (
    "annotation-xml desc foreignobject mi mo mn ms mtext title b big blockquote body br center code dd div dl dt em "
    "embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub "
    "sup table tt u ul var"
)
_HTML_AGAIN = frozenset(_HTML_NAMES.split())
#: Elements whose content is text, whatever it looks like: code with comparisons, HTML in JSON.
_ENDS = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "xmp", "iframe", "noembed", "noframes")
}
# A comment, or a tag with whatever its attributes hold. Both end with the page, so that many unclosed ones cost no more
# than one.
_TAG = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<!\[CDATA\["
    r"|<(?P<closes>/?)(?P<name>[A-Za-z][^\s/>]*+)(?>[^=>]*(?:=\s*(?:\"[^\"]*\"|'[^']*')?[^=>]*)*)(?:>|\Z)",
    re.DOTALL,
)


def parse_html(html: str) -> LexborHTMLParser:
    """The tree of a page; tags below the 512th level become blanks, which keeps all text."""
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(_flattened(html) if html.count("<") > DEPTH else html)


def _flattened(html: str) -> str:
    """The page without the tags that nest too deeply."""
    deep = list(too_deep(html))
    if not deep:
        return html
    log.debug("%d tags below the level %d of a page were left out", len(deep), DEPTH)
    begins = [0, *(end for _, end in deep)]
    ends = [*(start for start, _ in deep), len(html)]
    return " ".join(html[begin:end] for begin, end in zip(begins, ends, strict=True))


def too_deep(html: str) -> Iterator[tuple[int, int]]:
    """Where the tags below the level ``DEPTH`` begin and end."""
    depth, is_foreign, at = 0, False, 0
    while match := _TAG.search(html, at):
        at, name = match.end(), match["name"]
        if name is None:
            if is_foreign and match[0] == "<![CDATA[":
                at = html.find("]]>", at) % (len(html) + 1)
            continue
        name, closes = name.lower(), bool(match["closes"])
        if name in _FOREIGN:
            is_foreign = not closes
        elif is_foreign and name in _HTML_AGAIN:
            is_foreign = False
        if name in _ENDS and not is_foreign and not closes:
            end = _ENDS[name].search(html, at)
            at = end.start() if end else len(html)
        elif name not in _FLAT and name not in _ENDS and not (is_foreign and html.endswith("/>", 0, at)):
            depth = max(0, depth - 1) if closes else depth + 1
            if depth + closes > DEPTH:
                yield match.span()


# https://html.spec.whatwg.org/multipage/parsing.html#prescan-a-byte-stream-to-determine-its-encoding
PRESCAN_BYTES = 4096
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_REFRESH = re.compile(
    r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?(?P<quote>[\"']?)(?P<target>.*?)(?P=quote)\s*", re.IGNORECASE
)
#: Prefilter for pages with meta elements that have one of these attributes.
_NAMED = {"name": ("robots",), "http-equiv": ("http-equiv", "refresh")}
# Browsers read Latin-1 and ASCII as windows-1252, and a meta of UTF-16 as UTF-8: else it could not have been read.
_BROWSERS_READ = dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"), "windows-1252")
_BROWSERS_READ |= dict.fromkeys(("utf-16", "utf-16le", "utf-16be"), "utf-8")
# Directives that contain a colon; any other name before a colon is another robot.
_WITH_VALUE = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def decode_html(body: bytes, *, content_type: str = "") -> str:
    """Decode a page by its byte order mark, the header's charset, its meta charset, or else as its bytes suggest.

    Invalid bytes are replaced: a page is judged as a reader sees it.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, errors="replace")
    charset = _HEADER_CHARSET.search(content_type)
    meant = _META_CHARSET.search(body[:PRESCAN_BYTES])
    if charset is None and meant is None:
        return _undeclared(body)
    label = charset[1] if charset else meant[1].decode("ascii", "replace") if meant else ""
    try:
        return body.decode(_BROWSERS_READ.get(label.lower(), label), errors="replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", errors="replace")


def _undeclared(body: bytes) -> str:
    """A page without a declaration: UTF-8, or windows-1252 as in browsers if hardly any of its letters are UTF-8."""
    text = body.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if not broken or sum(not character.isascii() for character in text) > 2 * broken:  # most are whole
        return text
    return body.decode("windows-1252", errors="replace")


def asks_not_to_be_indexed(html: str, *, header: str = "") -> bool:
    """Whether a robots meta element or the ``X-Robots-Tag`` header says ``noindex`` or ``none`` to every robot."""
    metas = (content for name, content in _metas(html, "name") if name == "robots")
    return any(_forbids(directives) for directives in (header, *metas))


def refresh_target(html: str, *, base: str) -> str | None:
    """The absolute address of a ``<meta http-equiv="refresh">``, or None; a ``<base>`` of the page counts."""
    for name, content in _metas(html, "http-equiv"):
        match = _REFRESH.fullmatch(content) if name == "refresh" else None
        if match and match["target"].strip():
            return _resolved(parse_html(html), match["target"].strip(), base)
    return None


#: Where the elements end that a search engine reads from the head.
_HEAD_ENDS = re.compile(r"</head\b|<body\b", re.IGNORECASE)


def canonical_address(html: str, *, base: str) -> str | None:
    """The absolute address that a page declares as its own by ``<link rel="canonical">``, or None.

    As search engines read it: in the head only, and not at all if a page declares several
    (https://developers.google.com/search/blog/2013/04/5-common-mistakes-with-relcanonical). A ``<base>`` counts.
    """
    end = _HEAD_ENDS.search(html)
    head = html[: end.start()] if end else html
    if "canonical" not in head.lower():
        return None
    tree = parse_html(head)
    declared = {
        _resolved(tree, (node.attributes["href"] or "").strip(), base)
        for node in tree.css("head link[rel][href]")
        if "canonical" in (node.attributes["rel"] or "").lower().split()
    }
    return declared.pop() if len(declared) == 1 else None


def _resolved(tree: LexborHTMLParser, target: str, base: str) -> str:
    """The absolute address of a target on a page; a ``<base>`` of the page counts."""
    node = tree.css_first("base[href]")
    return join(base if node is None else join(base, (node.attributes["href"] or "").strip()), target)


def _forbids(directives: str) -> bool:
    for directive in directives.lower().split(","):
        name, colon, _ = directive.strip().partition(":")
        if colon and name.strip() not in _WITH_VALUE:
            return False  # the rest of the header is for another robot
        if name in ("noindex", "none"):
            return True
    return False


def _metas(html: str, attribute: str) -> Iterator[tuple[str, str]]:
    """Yield (value of ``attribute`` in lower case, content) of meta elements outside scripts."""
    lower = html.lower()
    if not all(word in lower for word in _NAMED[attribute]):
        return
    for node in parse_html(html).css(f"meta[{attribute}][content]"):
        if node.parent is None or node.parent.tag != "noscript":
            yield (node.attributes[attribute] or "").strip().lower(), node.attributes["content"] or ""


#: Elements that the usual frameworks fill with a page in the browser.
_MOUNTS = "#root, #app, #__next, #__nuxt, #___gatsby, #q-app, #svelte, app-root"
#: Letters of a request to enable scripts; frames and pictures for counters have none.
_REQUEST_LETTERS = 10  # definition


def may_need_scripts(tree: LexborHTMLParser) -> bool:
    """Whether a page may be built in the browser: it has a script, and a root for it or a request to enable scripts.

    Pages that are whole without scripts may have both, too.
    """
    if tree.css_first("script") is None:
        return False
    requests = ("".join(filter(str.isalpha, node.text())) for node in tree.css("body noscript"))
    return tree.css_first(_MOUNTS) is not None or any(len(text) >= _REQUEST_LETTERS for text in requests)
