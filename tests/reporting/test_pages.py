from __future__ import annotations

import re

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.corpus import Corpus, PageEntry
from ragval_pipeline.reporting.pages import page_table
from ragval_pipeline.validation.query_report import HeldTo
from tests.reporting import factory
from tests.reporting.factory import PAGES, report_html


def site(*urls: str) -> Corpus:
    """A site of complete pages."""
    return Corpus(pages={url: PageEntry(url, url, "", True, chunks=1, captured=1.0) for url in urls})


def test_a_draft_does_not_count_as_a_failed_question_of_its_page():
    given, unjudged = {"relevant_urls": [PAGES[0]]}, {"top_k": 5, "min_similarity": None, "module_match": None}
    queries = [
        factory.query(
            name, "What is ROS 2?", 0.6, passed=passed, given=given, held_to=HeldTo(conditions=conditions, **unjudged)
        )
        for name, passed, conditions in (("q1", True, ["url"]), ("q2", None, []))
    ]
    run = factory.bundle(factory.report(query_results=queries), judgements={"q1": {PAGES[0]: 2}})
    view = page_table(run, site(*PAGES[:2]))
    assert [(row.passed, row.asked) for row in view.rows] == [(1, 1), (0, 0)]


@pytest.mark.parametrize(
    ("pages", "spoilt", "told"),
    [
        (3, 0, "3 pages; nothing is wrong with any of them."),
        (3, 1, "3 pages; something is wrong with the first."),
        (3, 2, "3 pages; something is wrong with the first 2."),
        (3, 3, "3 pages; something is wrong with all of them."),
        (1, 1, "1 page; something is wrong with it."),
    ],
)
def test_the_number_of_pages_with_problems_is_said_as_people_say_it(pages: int, spoilt: int, told: str):
    findings = [make_finding("integrity.heading_loss", [Subject(name=url, page=url) for url in PAGES[:spoilt]])]
    run = factory.bundle(findings=findings if spoilt else [])
    text = re.sub(r"<[^>]+>|\s+", " ", report_html(run, site(*PAGES[:pages])).decode())
    assert told in text


def test_what_a_repair_would_break_is_not_shown_as_a_gain():
    broken = {"would_clear": {}, "would_fail": {"failing": ["q4"], "of": 7}}
    costly = make_finding("coverage.orphan_page", [PAGES[0]]).model_copy(update={"details": broken})
    content = report_html(factory.bundle(findings=[costly])).decode()
    assert '<span class="clears breaks">Would break 1 of the 7 queries' in content
