"""Markup of a source that no page shows: addresses of links, images, fences, ids, components, control words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# An address with one level of brackets, as CommonMark reads it, and an optional title; titles hold quotes of their own.
_TITLE = r"(?:\s+(?:\"(?:[^\n]|\n(?=\S))*?\"|'(?:[^\n]|\n(?=\S))*?'))?\s*"
# Converters wrap lines within both, and escape brackets of an address with a backslash.
_CHARACTER = r"(?>\\[()]?|[^()\s\\]|\n(?=[^()\s])|\([^()\s]*\))"
_ADDRESS = rf"\((?:<[^<>\n]*>|{_CHARACTER}*){_TITLE}\)"
# A piece of an address cut by a chunk; and an address with spaces: a path, an anchor or a file comes before the first
# of them, and, except on the web, no comma, as after the first argument of a call.
_PIECE = r"(?>\\[()]?|[^\s()\[\]\\]|\([^\s()\[\]]*\))"
_SPACED = r"(?=https?://|(?![^()\s]*,\s)[^()\s]*(?:[/#]|\w\.\w{2}))(?:[^()\n]|\([^()\n]*\)|\n(?=\S)){1,500}"
# An address with a scheme.
_LINK = r"(?:https?://|mailto:|\.{0,2}/|#)[^\s\[\]]*"
_SCHEME = r"(?:[a-z]{2,9}://|mailto:)"
#: The elements of HTML, and those of SVG that hold text.
TAGS = (
    "a|abbr|acronym|address|area|article|aside|audio|b|base|bdi|bdo|big|blockquote|body|br|button|canvas|caption|center"
    "|cite|code|col|colgroup|data|datalist|dd|del|details|dfn|dialog|dir|div|dl|dt|em|embed|fieldset|figcaption|figure"
    "|font|footer|form|g|h[1-6]|head|header|hgroup|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|main|map|mark"
    "|menu|meta|meter|nav|noscript|object|ol|optgroup|option|output|p|param|path|picture|pre|progress|q|rp|rt|ruby|s|samp"
    "|script|search|section|select|slot|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template"
    "|text|textarea|tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|wbr"
)
# Converters wrap lines within tags, and pad cells with blanks.
_IN_TAG = r"(?>\"[^\"\n]*\"|[ \t]+|[^<>\n]|\n(?![ \t]*\n))"
# What a line may begin with inside quotations, lists, definitions and cells.
_NESTED = r"^(?:[ \t>|]|:[ \t]|[-*+][ \t]|\d{1,3}[.)][ \t])*"
# A component; a tag that Markdown passes through, or what the chunk's end leaves of it; a comment; a template's
# instruction. None looks beyond the next opening, so that many cost no more than one.
_COMPONENT = r"(?:(?<![\w.])<|</)[A-Z][\w.]*(?:\s[^<>]{0,300})?(?:>|\Z)"
_TAG = rf"</?(?:{TAGS})\b{_IN_TAG}{{0,300}}>|<(?:{TAGS})(?:\s+[\w-]+=?{_IN_TAG}{{0,300}})?\Z"
_REMARK = r"<!--(?:(?!<!--).)*?-->"
_TEMPLATE = r"\{/\*(?:(?!\{/\*).)*?\*/\}|\{%(?:(?!\{%).)*?%\}|\{\{[<%](?:(?!\{\{).)*?[%>]\}\}"
_ENTITY = r"&(?:[a-zA-Z]{2,8}|#\d{2,5}|#x[0-9a-fA-F]{2,4});"
_FRONT_MATTER = r"\A---\s+[A-Za-z][\w-]*:(?=\s).{0,2000}?\s---(?=\s|\Z)"
_MARKUP = re.compile(
    rf"!\[[^\]\n]{{0,500}}\](?:{_ADDRESS}|\[[^\]\n]{{0,100}}\])"  # an image, which shows no letters
    r"|(?<=\])\[(?!\^)[^\[\]\n]{0,100}\](?!\])"  # the name of the reference that a link leads to
    rf"|(?<=\]){_ADDRESS}"  # where a link leads
    # the same with spaces, which converters leave as they are, or broken by line wrapping
    rf"|(?<=\])\({_SPACED}\)"
    # the same, cut by the chunk's end, possibly inside nested brackets
    rf"|(?<=\])\((?:{_PIECE}*(?:\([^()\s]*)?(?:\s+[\"'][^\n\"']*)?|{_SPACED})\Z"
    rf"|{_FRONT_MATTER}"
    rf"|{_ENTITY}"  # that was not decoded
    # the list of addresses that lynx and similar tools put below a page, or a part of it
    rf"|^[ \t#]*(?:References:?|(?:Visible|Hidden) links:?|\d{{1,4}}\.[ \t]+{_SCHEME}\S+)[ \t]*$"
    r"|^[ \t]*(?:\u27e8\d{1,4}\u27e9[ \t]+\S*[./#:][^\n]*|\[\d{1,4}\][ \t]+\S*[./#:]\S*[ \t]*)$"
    r"|^[ \t>]*\d{1,3}[.)](?=\s|\Z)"  # the number of a list item, which a page shows but does not have in its text
    rf"|{_NESTED}(?:```+|~~~+)[^\n`]*$"  # the fence of a code block and its language
    # the same inline, if an ingestion replaced line breaks by spaces; the title is shown
    r"|(?<!\S)(?:```+|~~~+)[\w+#.-]*(?:[ \t]+title=(?=\"))?(?=[\s\"])"
    # display options after both: line numbers, and the lines to highlight
    r"|(?<!\S)showLineNumbers(?:[={][^\s}]{1,20}\}?)?(?:[ \t]+\{[\d,-]{1,40}\})?(?=\s|\Z)"
    # the definition of a reference, and its address in further lines
    rf"|^[ \t]*\[(?!\^)[^\]\n]+\]:(?:[ \t]*\S+|\n{_LINK})(?:(?<=-)\n\S+)*[^\n]*$"
    r"|\[(?!\^)[^\]\n]{1,80}\]:[ \t]+<?https?://\S+"
    r"|\[\^[^\]\s]{1,100}\]:?"  # the mark of a footnote, which a page numbers itself
    r"|(?<!\S)\[[xX]\](?=\s)"  # a ticked box
    # the id of a heading, and other attributes, as kramdown and Pandoc write them
    r"|\{:?[ \t]*[#.][\w<-][^{}]{0,1000}(?:\}|\Z)|(?:(?<=[)\]`])|(?<=:::[ ]))\{[\w-]+=[^{}]{1,300}(?:\}|\Z)"
    # an admonition's kind; its title follows
    rf"|{_NESTED}:{{3,}}[ \t]*(?:[\w-]+|\{{[\w-]+\}})|(?<!\S):{{3,}}(?:[\w-]+|\{{[\w-]+\}})"
    r"|(?<!\S)(?:!!!|\?\?\?)\+?(?:[ \t]+[\w-]+)+(?=[ \t]*(?:\"|$))"
    # line highlighting: // highlight-next-line
    r"|(?://|#|--|;|/\*|\{/\*|<!--)[ \t]*highlight-(?:next-line|start|end)\b[ \t]*(?:\*/\}?|-->)?"
    r"|(?<=`)#![A-Za-z][\w+-]*(?=[ \t])"  # the language of code in a line, as PyMdown has it
    r"|-+8<-+[ \t]+\"[^\"\n]{1,200}\""  # a file that is put in its place
    r"|#[ \t]*doctest:(?:[ \t]*,?[ \t]*[+-][A-Z_\d]+)+"  # what Python is to make of an example
    r"|^\([\w:. /-]{1,100}\)=[ \t]*$"  # the name of what follows, as MyST writes it
    r"|\{/\*(?:(?!\{/\*|\*/\}).){0,300}\Z"  # cut by the chunk's end
    rf"|{_TEMPLATE}|{_COMPONENT}|{_TAG}|{_REMARK}|<!--(?:(?!<!--|-->).){{0,300}}\Z",
    re.MULTILINE | re.DOTALL,
)
# Markup of reStructuredText and MyST that a page does not show.
_DIRECTIVES = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:container|(?:rst-)?class)::[^\n]*$"  # which take names of classes
    r"|^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?[\w:-]+::(?:[ \t]+\S+[ \t]*$)?"  # a directive, its language or path
    r"|^[ \t]*\.\.[ \t]+_[^\n]+$"  # a target
    r"|^[ \t]*:[\w-]+:(?:[ \t][^\n]*)?$"  # an option
    r"|(?<![\w`]):[\w:+.-]+:(?=`)|\{[\w:+.-]+\}(?=`)"  # a role
    r"|(?<=`)[~!](?:[\w.]*\.(?=\w))?"  # the part of a name that is not shown
    r"|\s<[^<>`]+>(?=`)",  # where a reference leads
    re.MULTILINE,
)
# Control words of RTF, as in https://github.com/gptscript-ai/knowledge/issues/5, with the tables before its text; and
# those of them that neither LaTeX nor a path has, of which two show that a text is RTF.
_RTF = re.compile(
    r"\{\\(?:fonttbl|colortbl|stylesheet|info|\*)(?:[^{}]|\{[^{}]{0,300}\}){0,3000}(?:\}|\Z)"
    r"|\\(?:[a-z]{1,32}(?:-?\d{1,10})? ?|'[0-9a-f]{2}|\*)"
)
_OF_RTF = re.compile(
    r"\\(?:rtf1|ansicpg\d+|deff\d|fonttbl|viewkind\d|pard|s[abl]\d\d+|fs\d+|cf\d+|lang\d+|[bi]0)(?![a-z])"
)
_ATTRIBUTE_VALUE = r"(?:\"[^\"<>]*\"|'[^'<>]*'|\{[^{}<>]*\})"
#: What the beginning of a chunk leaves of an image, an address, a definition, attributes, a comment, a tag, a fence.
_REST = re.compile(
    r"\[[^\]\n]{0,500}\]\([^()\s]*\.(?:svg|png|jpe?g|gif|webp)(?:\s+[\"'][^\n]*?[\"'])?\)"
    rf"|(?:(?:\((?=[^()\s]*[/#]))?{_PIECE}*(?:\){_PIECE}+)?(?:\s+[\"'][^\n\"']*[\"'])?"
    r"|[^\n\"'()\[\]]{0,80}[\"'])\)"
    r"|\S+$(?=\s+\[(?!\^)[^\]\n]+\]:[ \t]*\S+[^\n]*$)"
    r"|[>\s]*(?:\.?[\w-]+[>\s]+){0,20}\.?[\w-]+\}"
    r"|[^{}]{0,300}?\*/\}"
    # attributes of a tag but no words: text added before a chunk is not part of it
    rf"|\w{{1,40}}/?>(?=\S)|[^<>\n]{{0,120}}[\"'}}][\])}}]*(?:\s+[\w:@-]+(?:={_ATTRIBUTE_VALUE})?)*(?:\s*/)?(?<![-=\s])>"
    r"|`{1,2}[\w+-]+(?:[ \t][^\n`]*)?$",
    re.MULTILINE,
)
# Whole statements and diagrams: too much to take out unseen, since a page may show as much code.
_STATEMENT = re.compile(
    r"(?<![\w.])import\s+(?:[\w$*{}\s,]{1,200}\s+from\s+)?([\"'])[^\"'\s]+\1;?"
    # Splitters leave out blank lines: the end of a block of code that shows a statement, and a heading, end it as well.
    r"|^export[ \t]+(?:const|let|function|default|async)\b.{0,3000}?(?=\n[ \t]*(?:\n|```|~~~|#{1,6}[ \t])|\Z)"
    r"|(?<!\S)```+[ \t]*(?:mermaid\b|\{toctree\}).*?(?:```+|\Z)"
    r"|^[ \t]*\.\.[ \t]+toctree::(?:[ \t]*\n|[ \t]+[^\n]+(?:\n|\Z))*",
    re.MULTILINE | re.DOTALL,
)
#: A word with URL escapes: a piece of an address cut at both ends, usually with code in it, or where a link leads.
_ESCAPED = re.compile(r"(?:(?<!\S)(?!\S*\]\()|(?<=\]\())(?=(?:[^\s%]*(?:%(?![0-9A-F]{2})[^\s%]*)*%[0-9A-F]{2}){3})\S+")
#: Characters of a linked text in which its beginning is searched for.
_LINKED = 600
_STATEMENT_WORDS = ("import", "export", "mermaid", "toctree")


#: Characters without which a text has no markup except numbers of list items.
_MARKS = (
    "![", "](", "][", "]:", "[^", "[x]", "[X]",
    "```", "~~~", "---", "&", "<", "{#", "{.", "{:", "){", "]{", "`{", "{/*", "{%", "{{", ":::",
    "`#!", "highlight-", "doctest:", ")=", "!!!", "???", "://", "mailto:", "References", "\u27e8",
)  # fmt: skip
#: All but the characters that every mark holds one of, but for these.
_PLAIN = bytes(code for code in range(256) if chr(code) not in "[]`~&<{")
_OF_PLAIN = ("---", ":::", "highlight-", "doctest:", ")=", "!!!", "???", "://", "mailto:", "References", "\u27e8")
_CUT_OFF = re.compile(r"[^(\n]{0,999}\)|\S{0,999}(?:\)|\n\s*\[)|\[[^\]\n]*\]\(|[^<]*>|[^{]{0,400}\}|`")
_SIGNS = ("::", "`", ".. ")
_NUMBERED = re.compile(r"\n[ \t>]*\d{1,3}[.)](?:\s|\Z)")


def _nothing(start: int, end: int) -> bool:
    return False


def without_markup(text: str, *, added: int = 0, keep: Callable[[int, int], bool] = _nothing) -> str:
    """The text with its invisible parts blanked out, so that every other character keeps its position.

    Args:
        text: The text.
        added: How many lines may have been added before the chunk; any of them may be its first own line.
        keep: Whether the positions from ``start`` to before ``end`` are text after all.
    """
    text = _blanked(_RTF, text, keep) if _is_rtf(text) else text
    text = _without_rest(text, 0, keep)
    text = _blanked(_MARKUP, text, keep) if _may_hold_markup(text) else text
    text = _blanked(_DIRECTIVES, text, keep) if any(sign in text for sign in _SIGNS) else text
    # Complete markup first: added lines may have some, over several lines.
    begin = 0
    for _ in range(added):
        begin = text.find("\n", begin) + 1
        if not begin:
            break
        text = _without_rest(text, begin, keep)
    return text


def _is_rtf(text: str) -> bool:
    return "\\" in text and len(set(_OF_RTF.findall(text))) > 1


def _without_rest(text: str, begin: int, keep: Callable[[int, int], bool]) -> str:
    rest = _REST.match(text, begin) if _CUT_OFF.match(text, begin) else None
    if rest is None or keep(*rest.span()):
        return text
    return text[: rest.start()] + " " * len(rest[0]) + text[rest.end() :]


def _may_hold_markup(text: str) -> bool:
    holds_signs = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if any(mark in text for mark in (_MARKS if holds_signs else _OF_PLAIN)):
        return True
    return _NUMBERED.search(f"\n{text}") is not None


def without_statements(text: str, *, keep: Callable[[int, int], bool] = _nothing) -> str:
    """The text with imports, exports and Mermaid diagrams of MDX blanked out.

    ``keep`` as in ``without_markup``.
    """
    return _blanked(_STATEMENT, text, keep) if any(word in text for word in _STATEMENT_WORDS) else text


def without_escaped(text: str, *, keep: Callable[[int, int], bool] = _nothing) -> str:
    """The text with addresses and pieces of addresses that have URL escapes (``%20``) blanked out.

    ``keep`` as in ``without_markup``.
    """
    return _blanked(_ESCAPED, text, keep) if "%" in text else text


_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->|\{/\*(?:(?!\{/\*).)*?\*/\}", re.DOTALL)


def without_comments(text: str) -> str:
    """The text with comments of Markdown and MDX, which no page shows, blanked out."""
    return _blanked(_COMMENT, text, _nothing) if "<!--" in text or "{/*" in text else text


# A picture within a page's source, and the rest of one that was cut: base64 is written in lines of 76 characters or in
# one. A long word of the page is text. See https://github.com/engram-app/Engram/issues/1619
_DATA = r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}"
_LINE_OF_DATA = 76
_REST_OF_DATA = re.compile(
    rf"(?<!\S)(?=[A-Za-z+/]{{0,{_LINE_OF_DATA}}}\d)(?=[a-z0-9+/]{{0,{_LINE_OF_DATA}}}[A-Z])"
    rf"[A-Za-z0-9+/]{{{_LINE_OF_DATA},}}={{0,2}}(?=[)\"'\s]|\Z)"
)
#: What a page is made from, unlike Markdown, which is written to be read.
_MADE_FROM = re.compile(
    rf"<(?i:(?P<code>script|style))\b[^<>]*>(?:(?!<(?i:script|style)\b).)*?</(?i:(?P=code))>"
    rf"|(?i:{_TAG})|{_COMPONENT}|{_REMARK}|{_TEMPLATE}|{_ENTITY}|{_DATA}",
    re.DOTALL,
)
_OF_MARKUP = ("<", "{%", "{{", "{/*", "&", ";base64,")


def markup_pieces(text: str) -> Iterator[str]:
    """The tags, comments, entities, template code, control words and encoded pictures in a text, as written."""
    if max(map(len, text.split()), default=0) >= _LINE_OF_DATA:
        yield from (match[0] for match in _REST_OF_DATA.finditer(text))
    if _is_rtf(text):
        yield from (match[0] for match in _RTF.finditer(text))
    if any(sign in text for sign in _OF_MARKUP):
        yield from (match[0] for match in _MADE_FROM.finditer(text))


# What a piece of markup opens or closes: ``<div``, ``{%``.
_KIND = re.compile(r"<!--|</?([\w.]+)|\{.[</*%>]?")


def markup_kind(piece: str) -> str:
    """The element of a tag, opening or closing, in lower case; the signs that open template code; else the piece."""
    found = _KIND.match(piece)
    return (found[1] or found[0]).lower() if found else piece


_FRONT = re.compile(_FRONT_MATTER, re.DOTALL)
_VALUE = re.compile(r"^[ \t]*[A-Za-z][\w-]*:[ \t]+([\"']?)(\S.*?)\1[ \t]*$", re.MULTILINE)


def front_matter_values(text: str) -> Iterator[str]:
    """The values of a Markdown text's front matter, such as the page's title."""
    front = _FRONT.match(text) if text.startswith("---") else None
    return (match[2] for match in _VALUE.finditer(front[0])) if front else iter(())


def _blanked(pattern: re.Pattern[str], text: str, keep: Callable[[int, int], bool]) -> str:
    # Lines of a file read as bytes may end with CRLF.
    lines = text.replace("\r\n", " \n")

    def blank(match: re.Match[str]) -> str:
        return match[0] if _is_index(lines, match.start()) or keep(*match.span()) else " " * len(match[0])

    return pattern.sub(blank, lines)


def _is_index(text: str, start: int) -> bool:
    """Whether brackets after brackets are code, ``cells[row][column]``: a link text begins a word."""
    if not text.startswith("][", start - 1):
        return False
    depth = 0
    for at in range(start - 1, max(-1, start - _LINKED), -1):
        depth += (text[at] == "]") - (text[at] == "[")
        # Of consecutive brackets the first decide: links may follow each other, too.
        if not depth and not text.startswith("]", at - 1):
            return at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_)")
    return False
