from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest

from ragval_pipeline.reporting.html import fact_rows, report_html
from tests.reporting import factory

VOID = {"meta", "link", "br", "img", "wbr", "input", "hr"}


class Page(HTMLParser):
    """Collects what a browser would act on, and fails on tags that do not nest."""

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(content.decode("utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def page(bundle, **more):
    return Page(report_html(bundle, **more))


ALL = ["faulty", "unreachable", "hostile"]


@pytest.mark.parametrize("name", ALL)
def test_the_page_needs_nothing_from_outside_and_runs_nothing(name):
    found = page(getattr(factory, name)())
    assert {tag for tag, _ in found.tags} & {
        "script",
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
    } == set()
    for _, attributes in found.tags:
        assert not [key for key in attributes if key.startswith("on") or key in {"src", "srcset", "background"}]
    assert "default-src 'none'" in str(found.named("meta"))
    style = re.search(rb"<style>(.*?)</style>", report_html(getattr(factory, name)()), re.DOTALL).group(1)
    assert b"url(" not in style
    assert b"@import" not in style


def test_only_http_addresses_become_links():
    targets = [attributes["href"] for attributes in page(factory.hostile()).named("a")]
    assert targets
    assert all(target.startswith(("#", "http://", "https://")) for target in targets)
    assert not [target for target in targets if "javascript" in target]


def test_hostile_text_is_shown_as_text():
    text = page(factory.hostile()).text
    assert "<script>alert(1)</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_every_link_inside_the_page_leads_somewhere():
    found = page(factory.faulty())
    anchors = {attributes["id"] for _, attributes in found.tags if attributes.get("id")}
    inner = {attributes["href"][1:] for attributes in found.named("a") if attributes["href"].startswith("#")}
    assert inner <= anchors
    assert "query-2" in inner


def test_the_top_says_verdict_suite_collection_and_time():
    text = " ".join(page(factory.faulty()).text.split())
    for part in ("Fail", "demo_book", "ragval_demo", "2026-11-20 11:15:41 UTC", "2 of 3 required criteria are not met"):
        assert part in text
    assert text.index("Do this first") < text.index("Required: these decide") < text.index("Measured, not required")


def test_a_consequence_is_indented_below_its_cause():
    content = report_html(factory.faulty()).decode()
    cause, consequence = content.index('id="finding-0"'), content.index('id="finding-1"')
    assert cause < content.index("follows from coverage.missing_page") < content.index("</article>", consequence)
    assert content.count("</article>", cause, consequence) == 0


def test_only_the_first_hundred_subjects_are_shown_and_the_rest_is_said_where():
    text = page(factory.large(queries=2, subjects=10_000)).text
    assert "000099" in text
    assert "000100" not in text
    assert "all 10,000 in findings.parquet" in text


def test_a_run_without_queries_or_site_has_a_page():
    run = factory.report(query_results=[], coverage_report=factory.CoverageReport())
    text = page(factory.bundle(run)).text
    assert "No query was run." in text


def test_token_counts_become_a_histogram():
    with_counts = report_html(factory.bundle(), token_counts=[10, 20, 20, 500])
    assert b"Distribution of token counts" in with_counts
    assert b"No token counts." in report_html(factory.bundle())


def test_distances_get_no_bars_since_longer_is_not_better(tmp_path):
    manifest = factory.snapshot(tmp_path / "payload", {"1": {}})
    vectors = ({"name": None, "size": 4, "distance": "Euclid"},)
    facts = manifest.facts.model_validate({**manifest.facts.model_dump(), "vectors": vectors})
    euclid = factory.bundle(manifest=manifest.model_copy(update={"facts": facts}))

    def best(content):
        return re.findall(rb'<span class="best">.*?<span class="result">', content, re.DOTALL)[0]

    assert b"track" in best(report_html(factory.bundle()))
    assert b"track" not in best(report_html(euclid))


def test_a_thousand_queries_and_ten_thousand_subjects_stay_under_five_megabytes():
    started = time.process_time()
    assert len(report_html(factory.large())) < 5_000_000
    assert time.process_time() - started < 20


def test_nested_facts_become_flat_rows():
    assert fact_rows({"a": {"b": 1, "c": {}}, "d": [1.5, None], "e": True, "f": None, "g": 0}) == [
        ("a.b", "1"), ("d", "1.5, -"), ("e", "yes"), ("g", "0"),
    ]  # fmt: skip
