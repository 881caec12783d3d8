from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.change_view import change_view
from ragval_pipeline.reporting.document import run_document
from ragval_pipeline.reporting.files.summary_md import escape, summary_md
from ragval_pipeline.validation.query_report import HeldTo
from tests.reporting import factory
from tests.reporting.factory import report_html


def rendered(text):
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)


@pytest.mark.parametrize(
    "text", [*factory.HOSTILE, "*a* _b_ ~~c~~ [x](javascript:alert(1)) ![i](http://e.example)", "# no"]
)
def test_text_is_shown_and_never_markup(text):
    html = rendered(escape(text)).replace("<!-- -->", "")
    inner = html.removeprefix("<p>").removesuffix("</p>\n")
    assert "<" not in inner


def test_an_address_becomes_a_link_to_itself_and_names_nobody():
    html = rendered(f"see {escape('The page https://x.example/a_b_c is gone')}")
    assert '<a href="https://x.example/a_b_c">' in html
    assert "@<!-- -->everyone" in escape("hello @everyone")
    assert "#<!-- -->12" in escape("see #12")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("(3 chunks, such as https://x.example/a)", "https://x.example/a"),
        ("(did you mean https://x.example/a?)", "https://x.example/a"),
        ("see https://x.example/a_(b).", "https://x.example/a_(b)"),
    ],
)
def test_a_link_ends_before_the_marks_of_the_sentence(text, address):
    assert f'<a href="{address}">{address}</a>' in rendered(escape(text))


def test_findings_of_information_are_counted_as_in_the_terminal():
    found = [make_finding(code, ["1"]) for code in ("chunk.too_small", "chunk.near_duplicate", "vector.zero")]
    text = summary_md(run_document(factory.report(findings=found))).decode()
    assert "### Findings: 1 error, 2 info\n" in text


def test_a_pipe_does_not_split_a_cell():
    html = rendered(f"| a |\n|---|\n| {escape('x | y')} {escape('https://x.example/a|b')} |")
    assert html.count("<td>") == 1


def test_the_summary_says_verdict_criteria_findings_and_failed_queries():
    text = summary_md(run_document(factory.faulty().report)).decode()
    assert text.startswith("## ❌ Fail: demo_book")
    cells = ("❌", "**Pages in the index** `coverage`", "92.3_%", "≥_100_%", "12 of 13 pages")
    assert f"| {' | '.join(cells)} |".replace("_", "\N{NO-BREAK SPACE}") in text
    assert text.index("coverage.missing_page") < text.index("query.failed") < text.index("coverage.orphan_page")
    assert "  - ❌ **Test questions not answered** `query.failed`" in text
    assert "| q3 | Describe a body in URDF | 0.380 |" in text


def test_a_passing_run_says_so_shortly():
    text = summary_md(run_document(factory.report())).decode()
    assert "## ✅ Pass: demo_book" in text
    assert "No findings." in text
    assert "not passed" not in text


def test_a_large_report_fits_into_a_comment():
    assert len(summary_md(run_document(factory.large(queries=400).report)).decode()) < 65_536


def test_the_summary_says_what_changed_and_what_to_know_about_the_scores():
    bundle = factory.with_history()
    text = summary_md(
        run_document(bundle.report, note="Scores are no grades.", changes=change_view(bundle.history.changes))
    ).decode()
    assert "> Scores are no grades." in text
    assert "- 🔴 **verdict** Pass → Fail" in text
    assert "- 🔴 **1 query** passed before, failed now: q3" in text
    assert text.index("Since 2026") < text.index("| | criterion")


def test_a_point_is_named_by_its_page_which_is_linked():
    point = Subject(name="9f1c", details={"page_url": "https://x/a_b", "chunk_index": 0})
    text = summary_md(run_document(factory.report(findings=[make_finding("text.zero_width", [point])]))).decode()
    assert "  - [/a_b](<https://x/a_b>), chunk_index 0" in text
    assert '<a href="https://x/a_b">/a_b</a>, chunk_index 0' in rendered(text)


def test_a_number_that_nothing_is_asked_of_has_passed_nothing():
    assert "| · | Mean reciprocal rank (MRR) `mrr` | 0.875 |" in summary_md(run_document(factory.report())).decode()


def test_a_query_that_nobody_judged_did_not_miss_anything() -> None:
    nothing = HeldTo(top_k=5, conditions=[], min_similarity=None, module_match=None)
    run = factory.report(query_results=[factory.query("q9", "Never judged?", 0.4, passed=None, held_to=nothing)])
    assert b"not passed" not in summary_md(run_document(run))
    assert b"Not passed" not in report_html(factory.bundle(run))
