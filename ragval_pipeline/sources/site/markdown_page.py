"""Rendering a Markdown or MDX file as the HTML page of its site, and reading its front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


_BLOCK = re.compile(
    r"\A\ufeff?(?P<mark>---|\+\+\+)[ \t]*\r?\n(?P<held>.*?)(?:(?<=\n)|\r?\n)(?P=mark)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
#: Front matter is short: anything longer is text between two rules.
LONGEST_FRONT_MATTER = 64 * 1024


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The front matter of a Markdown file, and the text without it.

    YAML between ``---`` and TOML between ``+++`` are read; anything else is kept as text.
    """
    found = _BLOCK.match(text[:LONGEST_FRONT_MATTER])
    if found is None:
        return {}, text.removeprefix("\ufeff")
    held = _read(found["held"], toml=found["mark"] == "+++")
    return ({}, text.removeprefix("\ufeff")) if held is None else (held, text[found.end() :])


def _read(text: str, *, toml: bool) -> dict[str, Any] | None:
    import tomllib

    import yaml

    try:
        held = tomllib.loads(text) if toml else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else {} if held is None else None


_FENCE = re.compile(r"(?P<indent>[ \t]*(?:>[ \t]*)*)(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_COLONS = re.compile(r"[ \t]*(?P<mark>:{3,})[ \t]*(?P<info>.*)$")
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:.-]+)\}[ \t]*(?P<title>.*)$")
_ASIDE = re.compile(r"(?P<name>[\w-]+)[ \t]*(?:\[(?P<bracketed>[^\]]*)\]|(?P<title>[^{]*))")
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t].*)?$")
#: MyST directives whose content is code, and those that show nothing in place.
_CODE = frozenset({"code", "code-block", "code-cell", "sourcecode", "parsed-literal", "literal", "math", "mermaid"})
_NOTHING = frozenset({"toctree", "contents", "include", "literalinclude", "image", "index", "raw", "eval-rst", "only"})
_TAB = re.compile(r'(?P<indent>[ \t]*)===[!+]*[ \t]+"(?P<title>[^"]*)"[ \t]*$')
_UNSEEN_LINE = re.compile(
    r"""[ \t]*(?:
        -{1,2}8<-{1,2}.*                       # an included file
        | \[\[?(?:TOC|toc)\]?\]                # the place of a table of contents
        | \*\[[^\]]+\]:.*                      # an abbreviation
        | \{:[^}]*\}                           # attributes of the paragraph before
        | (?:\([\w.-]+\)=)                     # a target of MyST
    )[ \t]*$""",
    re.VERBOSE,
)
_MODULE_LINE = re.compile(r"(?:import\s+(?:[\w*{\"']).*|export\s+(?:const|let|var|function|default|\{|\*).*)$")
_ATTRIBUTES = re.compile(r"[ \t]?\{:?[ \t]?[#.][\w.#:-][^}\n]{0,200}\}")
_ICON = re.compile(r"(?<![\w`]):(?:material|octicons|fontawesome|simple)-[\w-]+:(?:\{[^}\n]*\})?")
#: Where templates of Jekyll and Hugo begin and end.
_TEMPLATES = (("{{<", ">}}"), ("{{%", "%}}"), ("{%", "%}"))
_ROLE = re.compile(r"\{[a-z][\w:.+-]*\}`(?P<held>[^`\n]+)`")
_TARGET = re.compile(r"(?P<text>.*?)[ \t]*<[^<>]*>\Z")
# Strings and other parts of an expression; a quote that is not closed on its line is an apostrophe.
_HELD = r"""[^{}'"`]|'[^'\n]*'|"[^"\n]*"|`[^`]*`|['"`]"""
# An expression with nested objects; without backtracking, so that the cost stays linear.
_EXPRESSION = rf"\{{(?>(?:{_HELD}|\{{(?>(?:{_HELD}|\{{(?>(?:{_HELD})*)\}})*)\}})*)\}}"
_COMPONENT = re.compile(rf"""</?[A-Z][\w.]*(?P<given>(?:\s+[\w:-]+(?:=(?:"[^"]*"|'[^']*'|{_EXPRESSION}))?)*)\s*/?>""")
_TOLD = re.compile(r"""(?<![\w-])(?:label|title)=(?:"([^"]*)"|'([^']*)'|\{["'`]([^"'`{}]*)["'`]\})""")
_HEADING = re.compile(r"^ {0,3}#[ \t]+\S|^\S.*\n=+[ \t]*$|<h1", re.MULTILINE)


def markdown_html(text: str) -> str:
    """The page of a Markdown or MDX file: its title, description and content.

    If the text has no first-level heading, the front matter's title becomes one, as in site generators.
    """
    held, body = split_front_matter(text.replace("\r\n", "\n"))
    title, description = (_line(held.get(name)) for name in ("title", "description"))
    first = f"<h1>{escape(title)}</h1>" if title and not _HEADING.search(body) else ""
    content = _parser().render("\n".join(_plain_lines(_without_modules(body))))
    meta = f'<meta name="description" content="{escape(description)}">' if description else ""
    return f"<html><head><title>{escape(title)}</title>{meta}</head><body><main>{first}\n{content}</main></body></html>"


#: Longer files are not rendered: malicious ones take 50 microseconds per character.
LONGEST = 2_000_000


def is_markdown(content_type: str, url: str) -> bool:
    """Whether a response is Markdown: by its type, or as plain text with such an address."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind in ("text/markdown", "text/x-markdown") or (
        kind in ("text/plain", "") and urlsplit(url).path.lower().endswith((".md", ".mdx"))
    )


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.admon import admon_plugin
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.tasklists import tasklists_plugin

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])
    return parser.use(admon_plugin).use(footnote_plugin).use(deflist_plugin).use(tasklists_plugin)


def _line(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _without_modules(text: str) -> str:
    """The text without imports, exports and comments of MDX, and with the content of components; code is unchanged."""
    parts, code = [], False
    held: list[str] = []
    for line, in_code in _with_code(text.split("\n")):
        if in_code != code:
            parts.append("\n".join(held) if code else _opened_up("\n".join(held)))
            held, code = [], in_code
        held.append(line)
    parts.append("\n".join(held) if code else _opened_up("\n".join(held)))
    return "\n".join(parts)


def _opened_up(text: str) -> str:
    lines, open_brackets = [], 0
    for line in text.split("\n"):
        if open_brackets or _MODULE_LINE.match(line):
            # An exported object or function ends where its brackets close, or at the next blank line.
            opened = open_brackets + sum(map(line.count, "{([")) - sum(map(line.count, "})]"))
            open_brackets = max(opened, 0) if line.strip() else 0
            lines.append("")
        else:
            lines.append(line)
    return _COMPONENT.sub(_told_by, _without("\n".join(lines), "{/*", "*/}"))


def _told_by(component: re.Match[str]) -> str:
    """The visible text of a component's tag: its label or title."""
    told = next((next(filter(None, found.groups()), "") for found in _TOLD.finditer(component["given"] or "")), "")
    return f"\n\n{told}\n\n" if told and not component[0].startswith("</") else "\n" if _is_alone(component) else " "


def _is_alone(found: re.Match[str]) -> bool:
    """Whether a tag is alone on its lines."""
    text = found.string
    before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    after = text[found.end() : text.find("\n", found.end()) if "\n" in text[found.end() :] else len(text)]
    return not before.strip() and not after.strip()


def _with_code(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, with whether it belongs to a fenced code block, fences included."""
    fence = ""
    directives: list[str] = []  # open MyST fences with text
    for line in lines:
        found = _FENCE.match(line)
        ends = found is not None and not found["info"].strip()
        if fence:
            yield line, True
            if found and ends and found["mark"].startswith(fence):
                fence = ""
        elif found and ends and directives and found["mark"].startswith(directives[-1]):
            directives.pop()
            yield line, False
        elif found and _is_prose(found["info"]):
            directives.append(found["mark"])
            yield line, False
        else:
            fence = found["mark"] if found else ""
            yield line, found is not None


def _is_prose(info: str) -> bool:
    """Whether a MyST fence contains text instead of code."""
    directive = _DIRECTIVE.match(info.strip())
    return (
        directive is not None and directive["name"] not in _CODE | _NOTHING and not directive["name"].startswith("auto")
    )


def _plain_lines(text: str) -> Iterator[str]:
    """The text in plain Markdown: generator syntax is replaced by its visible text."""
    dropping = False
    after_directive = False
    for line, in_code in _with_code(text.split("\n")):
        fence = _FENCE.match(line)
        directive = _DIRECTIVE.match(fence["info"].strip()) if fence else None
        if in_code:
            if directive and directive["name"] not in _CODE:
                dropping = True
            elif directive and fence:
                yield f"{fence['indent']}{fence['mark']}{directive['title']}"
                after_directive = True
            elif dropping:
                dropping = not (fence and not fence["info"].strip())
            elif not (after_directive and _OPTION.match(line)):
                after_directive = False
                yield line
            continue
        if directive:
            yield from _aside(directive["name"].title() if not directive["title"] else directive["title"])
            after_directive = True
        elif fence and not fence["info"].strip():
            yield ""  # the end of a directive
        elif after_directive and _OPTION.match(line):
            continue
        else:
            after_directive = False
            colons = _COLONS.match(line)
            yield from _colons(colons["info"]) if colons else [_plain_line(line)]


def _colons(info: str) -> Iterator[str]:
    """Start or end of an admonition of Docusaurus or MyST: its title at the start, nothing at the end."""
    found = _ASIDE.match(info.strip().removeprefix("{").replace("}", " ", 1) if info.startswith("{") else info.strip())
    if found is None:
        yield ""
        return
    title = (found["bracketed"] or found["title"] or "").strip()
    yield from _aside(title or found["name"].title())


def _aside(title: str) -> Iterator[str]:
    yield from ("", title, "")


def _without(text: str, start: str, end: str) -> str:
    """The text with everything between two marks replaced by a blank."""
    kept, at = [], 0
    while (begins := text.find(start, at)) >= 0 and (ends := text.find(end, begins)) >= 0:
        kept += [text[at:begins], " "]
        at = ends + len(end)
    return "".join([*kept, text[at:]])


def _plain_line(line: str) -> str:
    if _UNSEEN_LINE.match(line):
        return ""
    tab = _TAB.match(line)
    if tab:
        return f'{tab["indent"]}!!! tab "{tab["title"]}"'
    if "{" in line or ":" in line:
        for start, end in _TEMPLATES:
            line = _without(line, start, end)
        line = _ROLE.sub(_role_text, _ICON.sub("", line))
        return _ATTRIBUTES.sub("", line)
    return line


def _role_text(role: re.Match[str]) -> str:
    named = _TARGET.match(role["held"])
    return named["text"] if named and named["text"] else f"`{role['held'].lstrip('~!')}`"
