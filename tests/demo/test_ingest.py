from __future__ import annotations

import collections
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from ragval_pipeline.demo.ingest import ingest, module_of, page_file, point_id, sitemap_urls
from ragval_pipeline.demo.workspace import DemoHome
from tests.demo.conftest import read_points


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _article_text(site: Path, url: str) -> str:
    """The author's text of a page, read without the ingestion's own extraction, blanks removed."""
    article = LexborHTMLParser(page_file(site, url).read_text()).css_first("article .content")
    return _squeezed(article.text())


def _by_page(points: list[Any]) -> dict[str, list[dict[str, Any]]]:
    pages: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for point in points:
        pages[point.payload["source_url"]].append(point.payload)
    return {url: sorted(payloads, key=lambda p: p["chunk_index"]) for url, payloads in pages.items()}


def test_every_page_of_the_sitemap_is_in_the_index(demo: DemoHome, points: list[Any]):
    assert set(_by_page(points)) == set(sitemap_urls(demo.site))
    assert demo.ingestion.pages == 13
    assert demo.ingestion.chunks == len(points)
    assert 60 <= len(points) <= 110


def test_the_text_below_the_headings_is_word_for_word_on_its_page(demo: DemoHome, points: list[Any]):
    for url, payloads in _by_page(points).items():
        page = _article_text(demo.site, url)
        for payload in payloads:
            *headings, body = payload["chunk_text"].split("\n", len(payload["heading_hierarchy"]))
            assert headings == payload["heading_hierarchy"]
            assert all(_squeezed(heading) in page for heading in headings)
            assert _squeezed(body) in page


def test_the_chunks_of_a_page_hold_all_of_it_exactly_once(demo: DemoHome, points: list[Any]):
    for url, payloads in _by_page(points).items():
        rest = _article_text(demo.site, url)
        for payload in payloads:
            body = payload["chunk_text"].split("\n", len(payload["heading_hierarchy"]))[-1]
            assert rest.count(_squeezed(body)) == 1
            rest = rest.replace(_squeezed(body), "")
        assert rest == "".join(_squeezed(heading) for heading in _starting_headings(payloads))


def _starting_headings(payloads: list[dict[str, Any]]) -> list[str]:
    """Headings that only stand at the top of chunks, each once, in reading order."""
    lines: list[str] = []
    previous: list[str] = []
    for payload in payloads:
        hierarchy = payload["heading_hierarchy"]
        lines += [h for depth, h in enumerate(hierarchy) if hierarchy[: depth + 1] != previous[: depth + 1]]
        previous = hierarchy
    return lines


def test_no_line_of_text_is_on_two_pages(points: list[Any]):
    pages: dict[str, set[str]] = collections.defaultdict(set)
    for point in points:
        for line in point.payload["chunk_text"].splitlines():
            pages[line.strip()].add(point.payload["source_url"])
    assert [line for line, urls in pages.items() if len(urls) > 1 and len(line.split()) > 1] == []


def test_headings_reach_sections_and_subsections(points: list[Any]):
    depths = collections.Counter(len(point.payload["heading_hierarchy"]) for point in points)
    assert depths[1] == 13
    assert depths[2] > 40
    assert depths[3] >= 10


def test_payloads_hold_seed_000s_fields_with_its_types(points: list[Any]):
    for point in points:
        payload = point.payload
        assert set(payload) == {
            "source_url", "chapter_id", "module_name", "heading_hierarchy", "chunk_text", "token_count", "chunk_index",
            "total_chunks", "title", "text_hash", "model", "embedded_at",
        }  # fmt: skip
        assert payload["source_url"].endswith(f"/docs/{payload['chapter_id']}")
        assert payload["title"] == payload["heading_hierarchy"][0]
        assert payload["module_name"] == module_of(payload["chapter_id"])


@pytest.mark.parametrize(
    ("chapter", "module"),
    [
        ("intro", "Intro"),
        ("module-1-ros2/ch1-ros2-basics", "Module 1 Ros2"),
        ("module-4-vla/ch2-voice-to-action", "Module 4 Vla"),
        ("capstone/autonomous-humanoid", "Capstone"),
    ],
)
def test_the_module_is_the_title_cased_folder(chapter: str, module: str):
    assert module_of(chapter) == module


def test_ids_follow_from_page_and_position_alone(points: list[Any]):
    for point in points:
        assert point.id == point_id(point.payload["source_url"], point.payload["chunk_index"])
        assert uuid.UUID(point.id).version == 5


def test_ingesting_twice_leaves_the_same_points(demo: DemoHome, tmp_path: Path):
    first = ingest(demo.site, tmp_path / "qdrant")
    second = ingest(demo.site, tmp_path / "qdrant")
    again = DemoHome(tmp_path, second)
    assert first.chunks == second.chunks == len(read_points(again))
    assert {point.id for point in read_points(again)} == {point.id for point in read_points(demo)}


def test_a_page_that_left_the_sitemap_leaves_the_index(demo: DemoHome, tmp_path: Path):
    site = tmp_path / "site"
    site.mkdir()
    text = (demo.site / "sitemap.xml").read_text()
    (site / "docs").symlink_to(demo.site / "docs")
    (site / "sitemap.xml").write_text(text)
    ingest(site, tmp_path / "qdrant")
    entry = re.search(r"  <url>\n    <loc>[^<]*capstone[^<]*</loc>\n.*?</url>\n", text, flags=re.DOTALL)
    assert entry
    (site / "sitemap.xml").write_text(text.replace(entry[0], ""))
    summary = ingest(site, tmp_path / "qdrant")
    urls = {point.payload["source_url"] for point in read_points(DemoHome(tmp_path, summary))}
    assert len(urls) == 12
