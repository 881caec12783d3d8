"""The demo's documentation site: the Markdown sources of its book, and the HTML pages built from them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import groupby, pairwise
from pathlib import Path
from string import Template
from xml.sax.saxutils import escape as escape_xml

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

#: RFC 2606 reserves ``.example``: no such host can ever exist, so nothing is fetched by accident.
BASE_URL = "https://physical-ai-book.example"
PACKAGE = "ragval_pipeline.demo"
_FENCE = "---\n"


@dataclass(frozen=True)
class SourcePage:
    """One page of the book as its author wrote it.

    Attributes:
        path: Path below ``/docs/`` without suffix, e.g. ``module-1-ros2/ch1-ros2-basics``.
        title: Title; the page's H1 says the same.
        module: Module label, e.g. ``Module 1 Ros2``.
        lastmod: Day of the last change.
        position: Reading order, from 1.
        markdown: The text after the front matter, H1 included.
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


#: Display names of modules; the label itself is derived from the folder's name, as in the payload.
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
    """The whole HTML document of a page."""
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


SITEMAP_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
STYLESHEET = "style.css"


@dataclass(frozen=True)
class Rendered:
    """A page's Markdown as HTML, and its headings below the H1 in order."""

    html: str
    headings: tuple[Heading, ...]


def build_site(target: Path) -> None:
    """Write the site into ``target``, which is created if missing.

    Page ``/docs/x/y`` becomes ``docs/x/y/index.html``. Links between pages are relative, so that the site can be opened
    from disk. The output depends on the package's content only. Files of the same names are overwritten, others are
    left alone.
    """
    pages = load_pages()
    frame = package_file("theme", "page.html").read_text(encoding="utf-8")
    for page in pages:
        rendered = render_markdown(page.markdown)
        html = frame_page(frame, page, pages, content=rendered.html, headings=rendered.headings)
        _write(target / "docs" / page.path / "index.html", html)
    _write(target / "index.html", _redirect(f"docs/{pages[0].path}/index.html"))
    _write(target / STYLESHEET, package_file("theme", STYLESHEET).read_text(encoding="utf-8"))
    _write(target / "sitemap.xml", sitemap_xml((page.url, page.lastmod.isoformat()) for page in pages))
    _write(target / "robots.txt", f"User-agent: *\nAllow: /\n\nSitemap: {BASE_URL}/sitemap.xml\n")


def render_markdown(markdown: str) -> Rendered:
    """HTML of a page's Markdown; headings get ids that the table of contents links to."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(markdown)
    headings = tuple(_give_ids(tokens))
    html = str(parser.renderer.render(tokens, parser.options, {}))
    return Rendered(html=html, headings=headings)


def _give_ids(tokens: Sequence[Token]) -> list[Heading]:
    headings = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag in ("h2", "h3"):
            text = inline.content.replace("`", "")
            anchor = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
            opening.attrSet("id", anchor)
            headings.append(Heading(level=int(opening.tag[1]), text=text, anchor=anchor))
    return headings


def sitemap_xml(entries: Iterable[tuple[str, str | None]]) -> str:
    """A sitemap with one entry for each address and its lastmod, which may be missing."""
    body = "".join(
        f"  <url>\n    <loc>{escape_xml(url)}</loc>\n"
        + (f"    <lastmod>{escape_xml(lastmod)}</lastmod>\n" if lastmod else "")
        + "  </url>\n"
        for url, lastmod in entries
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{SITEMAP_NAMESPACE}">\n{body}</urlset>\n'


def _redirect(location: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Physical AI and Humanoid Robotics</title>\n'
        f'<meta http-equiv="refresh" content="0; url={location}">\n<a href="{location}">Open the book</a>\n</html>\n'
    )


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
