"""What a query missed says what can have made it miss."""

from __future__ import annotations

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.causes import link_consequences


def because(finding: Finding, *causes: Finding) -> str | None:
    linked = link_consequences([finding, *causes], page_modules={})
    return next(entry.because for entry in linked if entry.code == finding.code)


def unmet(*conditions: str) -> Finding:
    details = {"conditions": list(conditions), "expected_pages": ["/a"]}
    return make_finding("query.failed", [Subject(name="q", details=details)])


def on_page(code: str) -> Finding:
    return make_finding(code, [Subject(name="p", page="/a")])


def test_a_search_that_returns_nothing_does_not_follow_from_what_the_expected_page_says():
    assert because(unmet("nothing returned"), on_page("text.glued_words")) is None
    assert because(unmet("url"), on_page("text.glued_words")) == "text.glued_words"


def test_a_module_that_the_site_lacks_fails_only_queries_that_miss_their_module():
    strange = on_page("payload.unexpected_module")
    assert because(unmet("url"), strange) is None
    assert because(unmet("module", "url"), strange) == "payload.unexpected_module"


def test_copies_crowd_an_answer_rather_than_words_that_are_glued_together():
    crowded = make_finding("retrieval.crowded_top_k", [Subject(name="q", details={"points": ["p", "r"]})])
    glued, copies = (make_finding(code, ["p", "r"]) for code in ("text.glued_words", "chunk.duplicate_text"))
    assert because(crowded, glued, copies) == "chunk.duplicate_text"
