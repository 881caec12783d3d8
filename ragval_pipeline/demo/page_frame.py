"""The frame around a page's content: header, sidebar, breadcrumbs, "On this page", edit link, neighbours, footer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from string import Template

from ragval_pipeline.demo.pages import BASE_URL, SourcePage

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
