"""Markdown, also with MyST's fenced directives, as blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from indexdefects.blocks import Block

if TYPE_CHECKING:
    from markdown_it.token import Token

#: Directives of which nothing is shown without running Sphinx.
_SILENT = re.compile(r"^\{(eval-rst|toctree|contents|currentmodule|module|include|auto\w+)\}")
_OPTIONS = re.compile(r"\A(?::[\w-]+:.*\n|---\n(?:.*\n)*?---\n)+")
_ROLE = re.compile(r"\{[\w:.-]+\}`(?:~|!)?([^`<]*?)(?:\s*<[^`>]*>)?`")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_TARGET = re.compile(r"^\([\w-]+\)=\s*$", re.MULTILINE)


def blocks_of(text: str) -> list[Block]:
    """Blocks of a Markdown file; the first heading of level 1 is the title."""
    from markdown_it import MarkdownIt

    text = _TARGET.sub("", _FRONT.sub("", text))
    return list(_blocks(MarkdownIt("commonmark").enable("table").parse(_ROLE.sub(r"`\1`", text))))


def _blocks(tokens: Sequence[Token]) -> Iterator[Block]:
    rows: list[list[str]] = []
    items = at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "heading_open":
            yield Block("heading", _inline(tokens[at + 1]), level=int(token.tag[1]))
            at += 2
        elif token.type in {"fence", "code_block"}:
            yield from _fence(token)
        elif token.type in {"list_item_open", "list_item_close"}:
            items += 1 if token.type == "list_item_open" else -1
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in {"th_open", "td_open"}:
            rows[-1].append(_inline(tokens[at + 1]))
            at += 1
        elif token.type == "table_close":
            yield table(rows)
        elif token.type == "inline" and (text := _inline(token)):
            yield Block("item" if items else "paragraph", text)
        at += 1


def table(rows: Sequence[Sequence[str]]) -> Block:
    """A table's block."""
    return Block("table", " ".join(cell for row in rows for cell in row if cell), rows=tuple(map(tuple, rows)))


def _fence(token: Token) -> Iterator[Block]:
    info = token.info.strip()
    if _SILENT.match(info):
        return
    content = _OPTIONS.sub("", token.content)
    if info.startswith("{") and not re.match(r"\{(code|sourcecode|click)", info):
        yield from blocks_of(content)
    elif content.strip():
        yield Block("code", content.strip("\n"))


def _inline(token: Token) -> str:
    parts = []
    for child in token.children or ():
        if child.type in {"text", "code_inline"}:
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
    return " ".join("".join(parts).split())
