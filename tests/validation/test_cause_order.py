"""Errors first, causes before what follows from them."""

from __future__ import annotations

from ragval_pipeline.findings.model import Subject
from tests.validation.linking import because, failed, finding, link, page


def test_a_warning_that_explains_an_error_stands_before_it():
    linked = link(
        finding("vector.zero", Subject(name="9", page="/z")),
        finding("chunk.duplicate_index", Subject(name="2", page="/a")),
        finding("coverage.url_variant", page("/a")),
    )
    codes = [entry.code for entry in linked]
    assert codes.index("coverage.url_variant") < codes.index("chunk.duplicate_index")


def test_a_finding_whose_subjects_have_several_causes_stands_after_all_of_them():
    linked = link(
        finding("regression.query_lost", "q1", "q2", "q3"),
        finding("query.failed", failed("q1", "/a")),
        finding("query.negative_scored_high", "q2"),
        finding("coverage.missing_page", page("/a")),
    )
    assert because(linked, "regression.query_lost") is None
    assert [entry.code for entry in linked] == [
        "coverage.missing_page", "query.failed", "query.negative_scored_high", "regression.query_lost",
    ]  # fmt: skip


def test_what_explains_one_subject_of_a_finding_stands_before_it_only_where_it_is_as_grave():
    failures = finding("query.failed", failed("q1", "/a"), failed("q2", "/b"))
    as_grave = link(failures, finding("vector.zero", Subject(name="1", page="/a")))
    assert [entry.code for entry in as_grave] == ["vector.zero", "query.failed"]
    lesser = link(failures, finding("retrieval.dark_page", page("/a")))
    assert [entry.code for entry in lesser] == ["query.failed", "retrieval.dark_page"]


def test_a_warning_comes_with_the_errors_that_follow_from_its_consequences():
    linked = link(
        finding("query.failed", failed("q1", "/a")),
        finding("retrieval.dark_page", page("/a")),
        finding("text.mojibake", Subject(name="1", page="/a")),
        finding("chunk.stale_tail", Subject(name="9", page="/c")),
    )
    assert [entry.code for entry in linked][:3] == ["text.mojibake", "retrieval.dark_page", "query.failed"]
