"""Text that a page hides from its readers and that speaks to a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.text.instructions import speaks_to_a_model

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


class Hidden(NamedTuple):
    """A hidden element.

    Attributes:
        element: Its tag with id and classes, as in CSS; ``comment`` for one.
        reason: Why no reader sees it, such as ``display: none``.
        text: Its text, in a line.
    """

    element: str
    reason: str
    text: str


_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
#: Declarations by which a browser shows nothing of an element where readers look.
_HIDES = re.compile(
    r"(?:^|[;{\s])(?P<said>display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*(?:0|0?\.0+)(?![.\d])"
    r"|font-size\s*:\s*(?:(?:0|0?\.0+)(?![.\d])\w*|(?:0?\.\d+|1(?:\.0+)?)px)|(?<!-)color\s*:\s*transparent"
    r"|(?:left|right|top|bottom|text-indent|margin-left)\s*:\s*-\d{3,}(?:\.\d+)?(?:px|em|rem|vw|%)?)",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?<![-\w])color\s*:\s*([^;!]+)", re.IGNORECASE)
_BACKGROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
#: A rule of a style sheet in the page for one class or id.
_RULE = re.compile(r"(?P<selector>[.#][\w-]+)\s*\{(?P<style>[^{}]*)\}")
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)"})
#: Roles of what a reader opens: a tab, a dialog.
_OPENED = frozenset({"tabpanel", "dialog", "alertdialog", "menu", "tooltip", "listbox"})
_OPENED_TAGS = frozenset({"details", "dialog"})
_OPENERS = ("aria-controls", "aria-describedby", "data-target", "data-bs-target", "popovertarget", "for", "href")


def hidden_instructions(tree: LexborHTMLParser, html: str) -> tuple[Hidden, ...]:
    """The hidden elements of a page that speak to a model, each as a whole, in page order.

    Hidden is what no reader of the rendered page can see or open: by its attribute or inline style, by a rule of a
    style sheet in the page for its class or id, in a comment or a template. Text for screen readers is read by people,
    and what a control opens, a tab or a dialog, is shown when it is asked for. Style sheets elsewhere are not read.
    """
    comments = map(_line, _COMMENT.findall(html)) if "<!--" in html else ()
    hidden = [Hidden("comment", "being a comment", text) for text in comments if speaks_to_a_model(text)]
    root = tree.root
    if root is None or not ("<template" in html or speaks_to_a_model(root.text(separator=" "))):
        return tuple(hidden)
    sheet = _sheet(tree)
    known: set[int] = set()
    for node in tree.css(", ".join(["template", "[hidden]", "[style]", *sheet])):
        reason = _reason(node, sheet)
        if reason is None or not known.isdisjoint(above.mem_id for above in _self_and_above(node)):
            continue
        text = _line(_text(node))
        if speaks_to_a_model(text) and not _is_opened(node, tree):
            known.add(node.mem_id)
            hidden.append(Hidden(_name(node), reason, text))
    return tuple(hidden)


def _text(node: LexborNode) -> str:
    # The content of a template is a document of its own.
    html = node.html or ""
    return re.sub(r"<[^>]*>", " ", html) if node.tag == "template" else node.text(separator=" ")


def _line(text: str) -> str:
    return " ".join(text.split())


def _sheet(tree: LexborHTMLParser) -> dict[str, str]:
    """What hides elements by the page's own style sheets, by selector of a class or an id."""
    found: dict[str, str] = {}
    for node in tree.css("style"):
        for rule in _RULE.finditer(node.text()):
            hides = _HIDES.search(rule["style"])
            if hides:
                found[rule["selector"]] = hides["said"]
    return found


def _reason(node: LexborNode, sheet: dict[str, str]) -> str | None:
    """Why an element is not shown; None if it is, or may be."""
    attributes = node.attributes
    if node.tag == "template":
        return "being a template"
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return "the attribute hidden"
    style = attributes.get("style") or ""
    hides = _HIDES.search(style)
    if hides:
        return _spaced(hides["said"])
    if _is_in_its_background(node, style):
        return "the colour of its background"
    names = [f"#{attributes.get('id')}", *(f".{name}" for name in (attributes.get("class") or "").split())]
    return next((_spaced(sheet[name]) for name in names if name in sheet), None)


def _spaced(said: str) -> str:
    name, _, value = said.partition(":")
    return f"{name.strip().lower()}: {value.strip().lower()}"


def _is_in_its_background(node: LexborNode, style: str) -> bool:
    """Whether the text has the colour that is stated behind it: white, where nothing may state another."""
    colour = _COLOUR.search(style)
    if colour is None:
        return False
    shade = "".join(colour[1].lower().split())
    for above in _self_and_above(node):
        behind = _BACKGROUND.search(above.attributes.get("style") or "")
        if behind is not None:
            return "".join(behind[1].lower().split()) == shade
        if above.tag == "body":
            break
        if above.attributes.get("class"):
            return False
    return shade in _WHITE


def _is_opened(node: LexborNode, tree: LexborHTMLParser) -> bool:
    """Whether a reader can open an element: it is in a tab, a dialog or the like, or a control names it."""
    for above in _self_and_above(node):
        if above.tag in _OPENED_TAGS or (above.attributes.get("role") or "") in _OPENED:
            return True
        name = above.attributes.get("id")
        if name and '"' not in name and any(_names(tree, opener, name) for opener in _OPENERS):
            return True
    return False


def _names(tree: LexborHTMLParser, opener: str, name: str) -> bool:
    named = f'[{opener}="#{name}"]' if opener in {"href", "data-target", "data-bs-target"} else f'[{opener}~="{name}"]'
    return tree.css_first(named) is not None


def _self_and_above(node: LexborNode) -> Iterator[LexborNode]:
    at: LexborNode | None = node
    while at is not None and at.tag not in {"html", "-undef"}:
        yield at
        at = at.parent


def _name(node: LexborNode) -> str:
    id_, classes = node.attributes.get("id"), (node.attributes.get("class") or "").split()
    return "".join([node.tag or "", f"#{id_}" if id_ else "", *(f".{name}" for name in classes)])
