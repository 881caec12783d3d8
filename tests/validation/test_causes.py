"""What a finding follows from: queries, searches, and the rules for all."""

from __future__ import annotations

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.causes import CONSEQUENCES, link_consequences
from tests.validation.linking import because, by_subject, failed, finding, link, page


def test_every_code_of_the_table_is_in_the_catalogue():
    assert CONSEQUENCES.keys() <= CATALOGUE.keys()
    assert {cause for causes in CONSEQUENCES.values() for cause in causes} <= CATALOGUE.keys()


def test_a_query_that_expects_a_missing_page_fails_because_of_it_and_stands_after_it():
    linked = link(finding("query.failed", failed("q", "/a")), finding("coverage.missing_page", page("/a")))
    assert because(linked, "query.failed") == "coverage.missing_page"
    assert [entry.code for entry in linked] == ["coverage.missing_page", "query.failed"]


def test_a_query_about_other_pages_follows_from_nothing():
    linked = link(finding("query.failed", failed("q", "/b")), finding("coverage.missing_page", page("/a")))
    assert because(linked, "query.failed") is None
    assert by_subject(linked, "query.failed") == {"q": None}


def test_of_several_subjects_each_says_its_own_cause_and_the_whole_only_when_all_have_one():
    failures = finding("query.failed", failed("q1", "/a"), failed("q2", "/b"))
    missing, gap = finding("coverage.missing_page", page("/a")), finding("chunk.index_gap", page("/b", missing=[2]))
    linked = link(failures, missing)
    assert because(linked, "query.failed") is None
    assert by_subject(linked, "query.failed") == {"q1": "coverage.missing_page", "q2": None}
    linked = link(failures, missing, gap)
    assert because(linked, "query.failed") == "coverage.missing_page"
    assert by_subject(linked, "query.failed") == {"q1": "coverage.missing_page", "q2": "chunk.index_gap"}


def test_findings_of_one_code_in_several_fields_all_explain():
    points = [Subject(name=str(number), page=f"/{number}") for number in (1, 2)]
    linked = link(
        finding("payload.empty_field", points[0], scope="module_name"),
        finding("payload.empty_field", points[1], scope="chapter_id"),
        finding("query.failed", failed("q1", "/1"), failed("q2", "/2")),
    )
    assert because(linked, "query.failed") == "payload.empty_field"


def test_a_query_that_names_only_a_module_touches_all_its_pages():
    query = Subject(name="q", details={"expected_pages": [], "expected_module": "Module 1"})
    missing = finding("coverage.missing_page", page("/a"))
    assert because(link(finding("query.failed", query), missing, modules={"/a": "module-1"}), "query.failed")
    assert not because(link(finding("query.failed", query), missing, modules={"/a": "module-2"}), "query.failed")


def test_a_cause_that_a_measurement_named_itself_is_kept():
    missing = finding("coverage.missing_page", page("/a", because="coverage.foreign_host"), page("/b"))
    orphan = finding("coverage.orphan_page", page("/old"))
    linked = link_consequences([missing, orphan], page_modules={}, moved={"/a": ["/old"], "/b": ["/old"]})
    assert by_subject(linked, "coverage.missing_page") == {"/a": "coverage.foreign_host", "/b": "coverage.orphan_page"}


def test_an_answer_is_crowded_because_of_the_copies_among_its_hits():
    crowded = finding("retrieval.crowded_top_k", Subject(name="q", details={"points": ["1", "2"]}))
    copies = finding("chunk.duplicate_index", Subject(name="2", page="/a"))
    assert because(link(crowded, copies), "retrieval.crowded_top_k") == "chunk.duplicate_index"
    # A count of points is no list of hits.
    counted = finding("coverage.url_variant", page("/a", points=3))
    assert because(link(counted, copies), "coverage.url_variant") is None


def judged(name: str, page_key: str, *fields: str) -> Subject:
    details = {"expected_pages": [page_key], "expected_module": None, "fields": list(fields)}
    return Subject(name=name, details=details)


def test_a_field_that_no_missed_condition_reads_explains_no_failed_query():
    lacking = finding("payload.missing_field", Subject(name="1", page="/a"), scope="chapter")
    by_url = finding("query.failed", judged("q", "/a", "source_url"))
    assert because(link(lacking, by_url), "query.failed") is None
    by_chapter = finding("query.failed", judged("q", "/a", "chapter"))
    assert because(link(lacking, by_chapter), "query.failed") == "payload.missing_field"


def test_boilerplate_explains_a_search_only_when_it_is_in_many_chunks():
    def boilerplate(share: float) -> Finding:
        return make_finding("text.boilerplate", [Subject(name="1", page="/a")], details={"share": share})

    query = finding("query.failed", failed("q", "/a"))
    assert because(link(boilerplate(0.4), query), "query.failed") is None
    assert because(link(boilerplate(0.6), query), "query.failed") == "text.boilerplate"


def test_chunks_that_are_too_long_crowd_no_answer():
    crowded = finding("retrieval.crowded_top_k", Subject(name="q", details={"points": ["1"]}))
    long = make_finding("chunk.over_model_limit", [Subject(name="1", page="/a")], details={"share": 0.9})
    assert because(link(crowded, long), "retrieval.crowded_top_k") is None


def test_a_page_that_its_own_title_does_not_find_explains_the_query_that_expects_it():
    dark = finding("retrieval.dark_page", page("/a"))
    linked = link(finding("query.failed", failed("q", "/a")), dark)
    assert [entry.code for entry in linked] == ["retrieval.dark_page", "query.failed"]
    by_module = Subject(name="q", details={"expected_pages": [], "expected_module": "One"})
    assert because(link(finding("query.failed", by_module), dark, modules={"/a": "one"}), "query.failed") is None


def test_a_query_that_expects_a_page_that_nothing_retrieves_fails_because_of_it():
    linked = link(
        finding("query.failed", failed("q", "/a"), failed("r", "/b")), finding("retrieval.dark_page", page("/a"))
    )
    assert by_subject(linked, "query.failed") == {"q": "retrieval.dark_page", "r": None}
    assert [entry.code for entry in linked] == ["query.failed", "retrieval.dark_page"]


def test_a_page_is_dark_because_every_chunk_is_stored_twice_and_not_because_chunks_are_long():
    twice = finding("chunk.duplicate_index", Subject(name="1", page="/a"), Subject(name="2", page="/a"))
    long = finding("chunk.one_per_page", page("/a"))
    assert because(link(finding("retrieval.dark_page", page("/a")), long, twice), "retrieval.dark_page") == twice.code


def test_wrong_vectors_explain_both_the_dark_page_and_its_query():
    vectors = finding("vector.zero", Subject(name="p1", page="/a", details={}))
    linked = link(finding("query.failed", failed("q", "/a")), finding("retrieval.dark_page", page("/a")), vectors)
    assert because(linked, "query.failed") == because(linked, "retrieval.dark_page") == "vector.zero"


def test_a_chunk_with_text_that_is_not_its_pages_is_a_hub_because_of_it():
    hub, gone = Subject(name="p1", page="/a"), Subject(name="p1", page="/a")
    assert because(link(finding("retrieval.hub_chunk", hub), finding("integrity.gone", gone)), "retrieval.hub_chunk")
    other = Subject(name="p2", page="/a")
    assert not because(
        link(finding("retrieval.hub_chunk", hub), finding("integrity.gone", other)), "retrieval.hub_chunk"
    )


def test_a_query_is_lost_because_it_fails_and_not_because_others_do():
    lost = finding("regression.query_lost", Subject(name="q1"))
    assert because(link(lost, finding("query.failed", failed("q1", "/a"))), "regression.query_lost") == "query.failed"
    assert because(link(lost, finding("query.failed", failed("q2", "/a"))), "regression.query_lost") is None


def dropped(*queries: str) -> Finding:
    metric = Subject(name="query_pass_rate", details={"queries": list(queries)})
    return finding("regression.significant_drop", metric, scope="query_pass_rate")


def test_a_drop_follows_from_the_queries_that_fail_and_stands_below_their_cause():
    lost = [failed("q1", "/a"), failed("q2", "/a")]
    linked = link(dropped("q1", "q2"), finding("query.failed", *lost), finding("coverage.missing_page", page("/a")))
    assert because(linked, "regression.significant_drop") == "query.failed"
    assert [entry.code for entry in linked] == [
        "coverage.missing_page", "query.failed", "regression.significant_drop",
    ]  # fmt: skip


def test_a_drop_that_other_queries_share_in_is_not_explained_by_those_that_fail():
    linked = link(dropped("q1", "vanished"), finding("query.failed", failed("q1", "/a")))
    assert because(linked, "regression.significant_drop") is None


def test_vectors_that_are_wrong_everywhere_explain_a_worse_ranking():
    wide = finding("vector.model_mismatch", "1")
    assert because(link(dropped("q1"), wide), "regression.significant_drop") == "vector.model_mismatch"
    few = finding("vector.zero", "1")
    assert because(link(dropped("q1"), few), "regression.significant_drop") is None


def test_an_index_that_misses_what_is_near_answers_many_queries_with_the_same_chunks():
    linked = link(finding("retrieval.hub_chunk", Subject(name="1", page="/a")), finding("index.low_ann_recall", "c"))
    assert because(linked, "retrieval.hub_chunk") == "index.low_ann_recall"


def test_a_lost_negative_query_follows_from_its_high_score():
    lost = finding("regression.query_lost", "n1")
    assert because(link(lost, finding("query.negative_scored_high", "n1")), "regression.query_lost") == (
        "query.negative_scored_high"
    )


def about(field: str, code: str, *names: str) -> Finding:
    subjects = [Subject(name=name, page="/a") for name in names]
    return make_finding(code, subjects, scope=f"payload_{field}", details={"field": field})


def test_a_count_is_off_because_the_text_is_empty_and_not_because_another_field_is():
    linked = link(
        finding("chunk.token_count_off", "1", "2"),
        about("text", "payload.empty_field", "1"),
        about("title", "payload.empty_field", "2"),
    )
    assert by_subject(linked, "chunk.token_count_off") == {"1": "payload.empty_field", "2": None}


def test_a_heading_that_is_nothing_but_a_zero_width_character_is_first_of_all_empty():
    def invisible(name: str, *places: str) -> Subject:
        return Subject(name=name, details={"places": list(places)})

    linked = link(
        finding("text.zero_width", invisible("1", "headings"), invisible("2", "text"), invisible("3", "headings")),
        about("headings", "payload.empty_field", "1", "2"),
    )
    assert by_subject(linked, "text.zero_width") == {"1": "payload.empty_field", "2": None, "3": None}


@pytest.mark.parametrize(
    ("field", "follows"),
    [("source_url", ["coverage.missing_page", "coverage.orphan_page", "integrity.not_captured"]),
     ("text", ["integrity.not_captured"]), ("token_count", [])],
)  # fmt: skip
def test_a_field_of_the_wrong_type_explains_what_is_read_from_it_and_nothing_else(field, follows):
    codes = ("coverage.missing_page", "coverage.orphan_page", "integrity.not_captured")
    linked = link(about(field, "payload.wrong_type", "1"), *[finding(code, page("/a")) for code in codes])
    assert sorted(entry.code for entry in linked if entry.because == "payload.wrong_type") == follows
