"""Building the demo's documentation site: plain HTML files, a stylesheet, sitemap.xml and robots.txt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragval_pipeline.demo.pages import BASE_URL, Heading, frame_page, load_pages, package_file

SITEMAP_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
STYLESHEET = "style.css"


@dataclass(frozen=True)
class Rendered:
    """A page's Markdown as HTML, and its headings below the H1 in order."""

    html: str
    headings: tuple[Heading, ...]


def build_site(target: Path) -> None:
    """Write the site into ``target``, which is made when it is not there.

    Page ``/docs/x/y`` becomes ``docs/x/y/index.html``. Links between pages are relative, so that the site can be opened
    from the disk. The output depends on the package's content only.

    Args:
        target: Folder of the site; files of the same names are overwritten, others are left alone.
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
        f"  <url>\n    <loc>{escape(url)}</loc>\n"
        + (f"    <lastmod>{escape(lastmod)}</lastmod>\n" if lastmod else "")
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
