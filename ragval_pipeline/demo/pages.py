"""The Markdown sources of the demo's book."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import groupby
from string import Template

import yaml

#: RFC 2606 reserves ``.example``: no such host can ever exist, so nothing is fetched by accident.
BASE_URL = "https://physical-ai-book.example"
PACKAGE = "ragval_pipeline.demo"
_FENCE = "---\n"


@dataclass(frozen=True)
class SourcePage:
    """One page of the book as its author wrote it.

    Args:
        path: Path below ``/docs/`` without suffix, e.g. ``module-1-ros2/ch1-ros2-basics``.
        title: Title; the page's H1 says the same.
        module: Module label, e.g. ``Module 1 Ros2``.
        lastmod: Day of the last change.
        position: Reading order, from 1.
        markdown: The text below the front matter, H1 included.
    """

    path: str
    title: str
    module: str
    lastmod: dt.date
    position: int
    markdown: str

    @property
    def url(self) -> str:
        """Address of the page on the (imaginary) public site."""
        return f"{BASE_URL}/docs/{self.path}"


def package_file(*parts: str) -> Traversable:
    """A file or folder of the demo's package data."""
    return files(PACKAGE).joinpath(*parts)


def load_pages() -> list[SourcePage]:
    """Every page of the book in reading order."""
    pages = [_parse(path, text) for path, text in _sources(package_file("content"))]
    return sorted(pages, key=lambda page: page.position)


def _sources(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".md"):
            yield f"{prefix}{entry.name.removesuffix('.md')}", entry.read_text(encoding="utf-8")


def _parse(path: str, text: str) -> SourcePage:
    _, front, markdown = text.split(_FENCE, 2)
    return SourcePage(path=path, markdown=markdown, **yaml.safe_load(front))


#: How readers see a module; the label itself is derived from the folder's name, as in the payload.
SHOWN_MODULES = {
    "Intro": "Start here",
    "Module 1 Ros2": "Module 1: ROS 2",
    "Module 2 Digital Twin": "Module 2: Digital twin",
    "Module 3 Isaac": "Module 3: Isaac",
    "Module 4 Vla": "Module 4: Vision, language, action",
    "Capstone": "Final project",
}


@dataclass(frozen=True)
class Heading:
    """A heading below the page's title: level 2 or 3, its text, and the id that links point to."""

    level: int
    text: str
    anchor: str


def frame_page(
    template: str, page: SourcePage, pages: Sequence[SourcePage], *, content: str, headings: Sequence[Heading]
) -> str:
    """The whole HTML document of a page.

    Args:
        template: Text of ``theme/page.html``, a ``string.Template``.
        page: The page.
        pages: All pages in reading order, for the sidebar and the neighbours.
        content: HTML of the page's own text.
        headings: Headings for "On this page".
    """
    root = "../" * (page.path.count("/") + 2)
    return Template(template).substitute(
        root=root,
        title=escape(page.title),
        url=escape(page.url),
        module=escape(SHOWN_MODULES[page.module]),
        sidebar=_sidebar(page, pages, root),
        contents=_contents(headings),
        content=content,
        edit_url=f"{BASE_URL}/edit/docs/{page.path}.md",
        lastmod=page.lastmod.isoformat(),
        neighbours=_neighbours(page, pages, root),
    )


def _link(page: SourcePage, root: str, *, attributes: str = "") -> str:
    return f'<a href="{root}docs/{page.path}/index.html"{attributes}>{escape(page.title)}</a>'


def _sidebar(page: SourcePage, pages: Sequence[SourcePage], root: str) -> str:
    lines = []
    for module, members in groupby(pages, key=lambda member: member.module):
        lines.append(f"<p>{escape(SHOWN_MODULES[module])}</p>\n<ul>")
        for member in members:
            current = ' aria-current="page"' if member == page else ""
            lines.append(f"<li>{_link(member, root, attributes=current)}</li>")
        lines.append("</ul>")
    return "\n".join(lines)


def _contents(headings: Sequence[Heading]) -> str:
    return "\n".join(
        f'<li class="level-{heading.level}"><a href="#{heading.anchor}">{escape(heading.text)}</a></li>'
        for heading in headings
    )


def _neighbours(page: SourcePage, pages: Sequence[SourcePage], root: str) -> str:
    index = pages.index(page)
    links = []
    if index > 0:
        links.append(f"<span>Previous<br>{_link(pages[index - 1], root)}</span>")
    if index + 1 < len(pages):
        links.append(f'<span class="next">Next<br>{_link(pages[index + 1], root)}</span>')
    return "\n".join(links)
