"""A page of documentation as a list of blocks, and its HTML, Markdown and plain text."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

NAVIGATION = ("Home", "Search", "Previous page", "Next page", "Edit this page", "Report a problem", "Back to top")


@dataclass(frozen=True)
class Block:
    """One block of a page.

    Attributes:
        kind: ``heading``, ``paragraph``, ``item``, ``code`` or ``table``.
        text: Its text; of a table, its cells joined by blanks.
        level: 2 to 6 of a heading, else 0.
        rows: The cells of a table; its first row is the header.
    """

    kind: str
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Page:
    """A page: ``path`` is the part of its address after the site's root, without slashes at the ends."""

    path: str
    title: str
    blocks: tuple[Block, ...]

    def with_blocks(self, blocks: Sequence[Block]) -> Page:
        """The page with other blocks."""
        return replace(self, blocks=tuple(blocks))

    @property
    def letters(self) -> int:
        """Letters and digits of the page."""
        return sum(map(str.isalnum, self.title + "".join(block.text for block in self.blocks)))


def as_html(page: Page, *, language: str, site: str) -> str:
    """The page as a documentation site serves it: navigation, ``main``, footer."""
    title = html.escape(page.title)
    links = "".join(f"<li>{name}</li>" for name in NAVIGATION)
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{title} | {html.escape(site)}'
        f"</title></head>\n<body><nav><ul>{links}</ul></nav>\n<main><article>\n<h1>{title}</h1>\n"
        f"{''.join(_html_parts(page.blocks))}</article></main>\n<footer>{html.escape(site)}</footer></body></html>\n"
    )


def _html_parts(blocks: Sequence[Block]) -> Iterator[str]:
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        if kind == "item":
            yield "<ul>\n" + "".join(f"<li>{html.escape(block.text)}</li>\n" for block in group) + "</ul>\n"
            continue
        for block in group:
            text = html.escape(block.text)
            if kind == "heading":
                yield f"<h{block.level}>{text}</h{block.level}>\n"
            elif kind == "code":
                yield f"<pre><code>{text}</code></pre>\n"
            elif kind == "table":
                yield _html_table(block)
            else:
                yield f"<p>{text}</p>\n"


def _html_table(block: Block) -> str:
    header, *rows = block.rows
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n"


def as_markdown(page: Page) -> str:
    """The page as the Markdown file that a documentation folder holds."""
    parts = [f"# {page.title}"]
    for kind, group in groupby(page.blocks, key=lambda block: block.kind):
        if kind == "item":
            parts.append("\n".join(f"- {block.text}" for block in group))
        else:
            parts += map(_markdown, group)
    return "\n\n".join(parts) + "\n"


def _markdown(block: Block) -> str:
    if block.kind == "heading":
        return f"{'#' * block.level} {block.text}"
    if block.kind == "code":
        return f"```\n{block.text}\n```"
    if block.kind == "table":
        header, *rows = ["| " + " | ".join(row) + " |" for row in block.rows]
        return "\n".join([header, "|" + " --- |" * len(block.rows[0]), *rows])
    return block.text


def as_text(page: Page) -> str:
    """The page's text alone, a blank line between blocks."""
    return "\n\n".join([page.title, *(block.text for block in page.blocks)])
