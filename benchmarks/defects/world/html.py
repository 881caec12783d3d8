"""The handbook as a site: HTML files and sitemap."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import Template

from benchmarks.defects.world.pages import HOST, Page
from benchmarks.defects.world.prose import FOLDER
from ragval_pipeline.demo.ingest import page_name
from ragval_pipeline.demo.site import render_markdown
from ragval_pipeline.testing.defects.store import Entry, Site


def build_site(pages: Sequence[Page]) -> Site:
    """The site: every page in a frame with navigation, breadcrumbs, contents, edit link and footer."""
    frame = Template((FOLDER / "frame.html").read_text(encoding="utf-8"))
    site = Site({page_name(page.url): _framed(frame, page, pages) for page in pages})
    site.files["robots.txt"] = f"User-agent: *\nAllow: /\n\nSitemap: {HOST}/sitemap.xml\n"
    site.set_entries(Entry(page.url, page.lastmod) for page in pages)
    return site


def _framed(frame: Template, page: Page, pages: Sequence[Page]) -> str:
    rendered = render_markdown(page.markdown)
    siblings = [other for other in pages if other.module == page.module]
    return frame.substitute(
        lang=page.lang,
        direction="rtl" if page.lang == "ar" else "ltr",
        title=escape(page.title),
        url=escape(page.url),
        module=escape(page.module.replace("-", " ").capitalize()),
        sidebar="\n".join(f'<li><a href="/docs/{other.path}">{escape(other.title)}</a></li>' for other in siblings),
        contents="\n".join(f"<li>{escape(heading.text)}</li>" for heading in rendered.headings),
        content=rendered.html,
        lastmod=page.lastmod,
        path=page.path,
    )
