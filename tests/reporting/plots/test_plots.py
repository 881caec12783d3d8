from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from ragval_pipeline.reporting.plots.latency import Span, latency_plot, spans_of
from ragval_pipeline.reporting.plots.scores import ScoreLane, score_plot
from ragval_pipeline.reporting.plots.tokens import token_plot

PLOTS = {
    "few scores": lambda: score_plot([ScoreLane("a", [0.5, 0.5, 0.7], [0.2])], [0.45], title="t"),
    "one score": lambda: score_plot([ScoreLane("a", [0.5], [])], [], title="t"),
    "zero scores": lambda: score_plot([ScoreLane("a", [0.0, 0.0], [])], [0.0], title="t"),
    "many scores": lambda: score_plot(
        [ScoreLane("a", [n / 500 for n in range(500)], [0.1] * 20), ScoreLane("b", [], [-0.2])], [0.3, 0.4], title="t"
    ),
    "tokens": lambda: token_plot([64, 100, 120, 200], 512, title="t"),
    "one chunk": lambda: token_plot([5], None, title="t"),
    "no tokens in chunks": lambda: token_plot([0, 0], 512, title="t"),
    "skewed tokens": lambda: token_plot([200, 203, 350, 400, 985, 16_762], 512, title="t"),
    "latency": lambda: latency_plot([Span("both", 2.0, 3.4, 9.0)], 2000.0, title="t"),
    "slow": lambda: latency_plot([Span("both", 900.0, 2400.0, 2600.0)], 2000.0, title="t"),
    "no time at all": lambda: latency_plot([Span("both", 0.0, 0.0, 0.0)], None, title="t"),
}


@pytest.fixture(scope="module", params=PLOTS)
def svg(request):
    return str(PLOTS[request.param]())


def test_a_plot_is_one_element_that_parses_and_has_a_name(svg):
    root = ET.fromstring(svg)
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == "t"
    assert root.get("viewBox")
    assert root.get("width") is None


def test_a_plot_takes_its_colours_from_the_page(svg):
    assert "var(--" in svg
    assert not re.findall(r"#[0-9a-f]{6}\b", svg)


def test_the_words_of_a_plot_are_text_in_the_font_of_the_page(svg):
    assert "DejaVu" not in svg
    assert "<style" not in svg
    assert "font-size:" in svg


def test_a_plot_is_the_same_each_time_it_is_drawn():
    assert PLOTS["few scores"]() == PLOTS["few scores"]()


def test_a_title_with_markup_stays_text():
    svg = token_plot([1, 2], None, title='"><script>')
    assert "<script" not in svg
    assert ET.fromstring(svg).get("aria-label") == '"><script>'


def test_tokens_above_the_limit_look_bad():
    assert "var(--bad)" in PLOTS["skewed tokens"]()
    assert "var(--bad)" not in PLOTS["tokens"]()


def test_spans_come_from_the_section_and_leave_out_what_was_not_timed():
    section = {
        "embedding_ms": {"p50": None, "p95": None, "max": None, "n": 0},
        "search_ms": {"p50": 1, "p95": 2, "max": 3},
    }
    assert spans_of(section) == [Span("search", 1, 2, 3)]
    assert spans_of({}) == []


def test_the_page_can_be_imported_without_matplotlib():
    code = "import sys, ragval_pipeline.reporting.html; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
