"""reStructuredText as blocks, with Sphinx's roles and directives read as far as they show text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from indexdefects.blocks import Block
from indexdefects.corpora.markdown import table

_ROLES = (
    "class func meth mod attr ref doc data exc obj term option envvar pep rfc issue pr gh ghissue samp file "
    "guilabel menuselection kbd command program any c:func py:class py:func py:meth py:mod py:attr py:data "
    "py:exc py:obj setting ttag tfilter lookup djadmin ticket cve commit user source mimetype regexp keyword "
    "token const download numref dfn abbr std:ref manpage makevar newsgroup eq"
).split()
_CODE = ("code-block sourcecode code highlight-block parsed-literal console").split()
_PROSE = (
    "note warning tip hint important caution danger error attention seealso admonition versionadded "
    "versionchanged deprecated versionremoved tabs tab group-tab code-tab rubric topic sidebar function class "
    "method attribute exception data describe option confval setting templatetag templatefilter fieldlookup "
    "django-admin django-admin-option envvar glossary decorator classmethod staticmethod module-section "
    "console only hlist centered container epigraph compound py:function py:class py:method snippet "
    "classattribute"
).split()
_SILENT = (
    "toctree automodule autoclass autofunction automethod autodata autoattribute autoexception module "
    "currentmodule index contents highlight include literalinclude image figure raw meta sectionauthor "
    "codeauthor click default-domain tabularcolumns graphviz inheritance-diagram ifconfig program py:module"
).split()
#: Nodes of the document that show nothing, or only what their parent's text has.
_NO_TEXT = frozenset("comment target system_message substitution_definition image Text problematic".split())
_LABEL = re.compile(r"^(?:~|!)?(.*?)(?:\s*<[^>]*>)?$", re.DOTALL)


def blocks_of(text: str) -> list[Block]:
    """Blocks of a reStructuredText file; the first heading is the title."""
    from docutils.core import publish_doctree

    _register()
    settings = {"report_level": 5, "halt_level": 6, "file_insertion_enabled": False, "raw_enabled": False}
    settings |= {"doctitle_xform": False, "_disable_config": True}
    return list(_walk(publish_doctree(text, settings_overrides=settings), 1))


@functools.cache
def _register() -> None:
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives, roles

    def role(name: str, rawtext: str, text: str, lineno: int, inliner: Any, *_: Any, **__: Any) -> Any:
        label = _LABEL.match(text)
        return [nodes.literal(rawtext, label[1] if label else text)], []

    class Code(Directive):  # type: ignore[misc]
        has_content, optional_arguments, final_argument_whitespace = True, 1, True
        option_spec = _any_option()

        def run(self) -> list[Any]:
            return [nodes.literal_block("\n".join(self.content), "\n".join(self.content))]

    class Prose(Directive):  # type: ignore[misc]
        has_content, optional_arguments, final_argument_whitespace = True, 1, True
        option_spec = _any_option()

        def run(self) -> list[Any]:
            box = nodes.container()
            if self.arguments:
                argument = " ".join(self.arguments[0].split())
                box += nodes.paragraph(argument, argument)
            self.state.nested_parse(self.content, self.content_offset, box)
            return [box]

    class Silent(Prose):
        def run(self) -> list[Any]:
            return []

    for names, directive in ((_CODE, Code), (_PROSE, Prose), (_SILENT, Silent)):
        for name in names:
            directives.register_directive(name, directive)
    for name in _ROLES:
        roles.register_local_role(name, role)


def _any_option() -> dict[str, Any]:
    class Anything(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return lambda value: value

        def __bool__(self) -> bool:
            return True

    return Anything()


def _walk(node: Any, level: int) -> Iterator[Block]:
    for child in node.children:
        kind = type(child).__name__
        if kind == "section":
            yield from _walk(child, level + 1)
        elif kind == "title":
            yield Block("heading", _text(child), level=min(level - 1, 6) or 1)
        elif kind in {"paragraph", "term", "rubric", "subtitle", "attribution", "field_name", "line"}:
            if text := _text(child):
                yield Block("paragraph", text)
        elif kind in {"literal_block", "doctest_block"}:
            if child.astext().strip():
                yield Block("code", child.astext().strip("\n"))
        elif kind == "list_item":
            yield from _item(child, level)
        elif kind == "table":
            rows = [[_text(cell) for cell in row.children] for row in child.findall(_is("row"))]
            if rows:
                yield table(rows)
        elif kind not in {
            "comment",
            "target",
            "system_message",
            "substitution_definition",
            "image",
            "Text",
            "problematic",
        }:
            yield from _walk(child, level)


def _item(node: Any, level: int) -> Iterator[Block]:
    for block in _walk(node, level):
        yield Block("item", block.text) if block.kind == "paragraph" else block


def _is(name: str) -> Any:
    return lambda node: type(node).__name__ == name


def _text(node: Any) -> str:
    return " ".join(node.astext().split())
