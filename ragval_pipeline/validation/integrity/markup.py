"""What a source writes that no page shows: addresses of links, images, fences, ids, front matter, entities.

What lives here: blanking it out. What does not: comparing (``match``), which does so only where it helps: on a page
about Markdown the same characters are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# An address with one level of brackets, as CommonMark reads it, and an optional title; titles hold quotes of their own.
_TITLE = r"(?:\s+(?:\"[^\n]*?\"|'[^\n]*?'))?\s*"
_ADDRESS = rf"\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*){_TITLE}\)"
_TAGS = "a|b|i|p|br|hr|em|img|div|sub|sup|span|code|strong|table|thead|tbody|tr|td|th|details|summary|figure"
_MARKUP = re.compile(
    rf"!\[[^\]\n]*\]{_ADDRESS}"  # an image, which shows no letters
    rf"|(?<=\]){_ADDRESS}"  # where a link leads
    # the same, cut by the chunk's end or beginning
    r"|(?<=\])\([^()\s]*(?:\s+[\"'][^\n\"']*)?\Z"
    r"|\A(?:[^\s()\[\]]+(?:\s+[\"'][^\n\"']*[\"'])?|[^\n\"'()\[\]]{0,80}[\"'])\)"
    r"|\A---\n.{0,2000}?\n---(?=\n|\Z)"  # front matter
    r"|&(?:lt|gt|amp|quot|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});"  # an entity that was not decoded
    r"|^[ \t>]*\d{1,3}[.)](?=\s)"  # the number of a list item, which a page shows without having it in its text
    r"|^[ \t]*(?:```+|~~~+)[^\n`]*$"  # the fence of a code block and its language
    r"|^[ \t]{0,3}\[[^\]\n]+\]:[ \t]*\S+[^\n]*$"  # the definition of a reference
    r"|\{#[\w-]+\}"  # the id of a heading
    rf"|</?(?:{_TAGS})\b[^<>\n]{{0,300}}>|<!--.*?-->",  # markup that Markdown passes through
    re.MULTILINE | re.DOTALL,
)


def without_markup(text: str, *, keep: Callable[[int, int], bool] = lambda start, end: False) -> str:
    """The text with its invisible parts blanked out, so that every other character keeps its place.

    Args:
        text: The text.
        keep: Says of the positions from ``start`` to before ``end`` whether they are text all the same.
    """
    return _MARKUP.sub(lambda match: match[0] if keep(*match.span()) else " " * len(match[0]), text)
