"""Parsing a page at a cost that grows with its length, however it nests."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

log = logging.getLogger(__name__)
#: Levels that are parsed, as in Chromium: a parser looks through all open elements at each tag.
DEPTH = 512
#: Elements that the next of their kind ends, or that hold nothing: unclosed ones do not nest.
_FLAT_NAMES = (
    "p li dt dd option optgroup tr td th thead tbody tfoot caption colgroup rp rt html head body "
    "area base br col embed hr img input link meta param source track wbr"
)
_FLAT = frozenset(_FLAT_NAMES.split())
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)[^<>]*+>")


def parse_html(html: str) -> LexborHTMLParser:
    """The tree of a page; tags below the 512th level become blanks, which leaves all text where it is."""
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(_flattened(html) if _nests_deeply(html) else html)


def _nests_deeply(html: str) -> bool:
    if html.count("<") <= DEPTH:
        return False
    depth = 0
    for closes, name in _TAG.findall(html):
        if name not in _FLAT and name.lower() not in _FLAT:
            depth = max(0, depth - 1) if closes else depth + 1
            if depth > DEPTH:
                return True
    return False


def _flattened(html: str) -> str:
    """The page without the tags that nest too deeply."""
    depth, left_out = 0, 0

    def kept(match: re.Match[str]) -> str:
        nonlocal depth, left_out
        closes, name = match[1], match[2].lower()
        if name in _FLAT:
            return match[0]
        depth = max(0, depth - 1) if closes else depth + 1
        if depth + bool(closes) <= DEPTH:
            return match[0]
        left_out += 1
        return " "

    text = _TAG.sub(kept, html)
    if left_out:
        log.info("%d tags below the level %d of a page were left out", left_out, DEPTH)
    return text
