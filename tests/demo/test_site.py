from __future__ import annotations

import datetime as dt
from pathlib import Path
from urllib.parse import urldefrag
from xml.etree import ElementTree

import pytest
from selectolax.lexbor import LexborHTMLParser

from ragval_pipeline.demo.ingest import module_of
from ragval_pipeline.demo.site import SITEMAP_NAMESPACE, build_site, load_pages


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build_site(folder)
    return folder


def _sitemap(site: Path, tag: str) -> list[str]:
    root = ElementTree.parse(site / "sitemap.xml").getroot()
    return [node.text or "" for node in root.iter(f"{{{SITEMAP_NAMESPACE}}}{tag}")]


def test_the_book_has_thirteen_pages_in_six_modules():
    pages = load_pages()
    assert [page.position for page in pages] == list(range(1, 14))
    assert sorted({page.module for page in pages}) == [
        "Capstone",
        "Intro",
        "Module 1 Ros2",
        "Module 2 Digital Twin",
        "Module 3 Isaac",
        "Module 4 Vla",
    ]


def test_the_module_that_an_author_writes_is_the_one_that_the_url_gives():
    for page in load_pages():
        assert page.module == module_of(page.path)


def test_every_page_is_long_enough_to_teach_something_and_short_enough_to_read():
    for page in load_pages():
        assert 500 <= len(page.markdown.split()) <= 900, page.path


def test_the_sitemap_names_every_page_once_and_every_page_has_its_file(site: Path):
    urls = _sitemap(site, "loc")
    assert urls == [page.url for page in load_pages()]
    files = {str(file.relative_to(site)) for file in site.glob("docs/**/*.html")}
    assert files == {f"docs/{page.path}/index.html" for page in load_pages()}
    assert len(urls) == len(files) == 13


def test_every_lastmod_differs_and_lies_between_autumn_2025_and_summer_2026(site: Path):
    days = [dt.date.fromisoformat(text) for text in _sitemap(site, "lastmod")]
    assert len(set(days)) == 13
    assert min(days) >= dt.date(2025, 9, 1)
    assert max(days) <= dt.date(2026, 8, 31)


def test_building_twice_gives_the_same_bytes(site: Path, tmp_path: Path):
    build_site(tmp_path)
    build_site(tmp_path)
    first = {str(file.relative_to(site)): file.read_bytes() for file in site.rglob("*") if file.is_file()}
    second = {str(file.relative_to(tmp_path)): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert first == second


def test_every_link_between_pages_leads_to_a_file_and_a_heading(site: Path):
    for file in site.rglob("*.html"):
        for anchor in LexborHTMLParser(file.read_text()).css("a[href], link[rel=stylesheet]"):
            href = anchor.attributes["href"] or ""
            if href.startswith("https://"):
                continue
            path, fragment = urldefrag(href)
            target = (file.parent / path).resolve() if path else file
            assert target.is_file(), (file, href)
            if fragment:
                assert LexborHTMLParser(target.read_text()).css_first(f"[id='{fragment}']"), (file, href)


def test_a_page_loads_nothing_from_elsewhere_and_its_main_content_is_one_article(site: Path):
    for file in site.glob("docs/**/*.html"):
        page = LexborHTMLParser(file.read_text())
        assert len(page.css("main > article")) == 1
        assert len(page.css("h1")) == 1
        assert not page.css("script, img, iframe, meta[name=robots]")
