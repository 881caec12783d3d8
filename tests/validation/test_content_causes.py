"""What is missing from pages and chunks follows from what was done to them."""

from __future__ import annotations

import pytest

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.validation.causes import link_consequences
from tests.validation.linking import because, by_subject, finding, link, page


def test_a_point_without_a_page_explains_the_page_that_lacks_its_chunk():
    lost = finding("payload.missing_field", Subject(name="1", details={"chunk_index": 2}), scope="source_url")
    assert because(link(lost, finding("chunk.index_gap", page("/a", missing=[2]))), "chunk.index_gap")
    assert not because(link(lost, finding("chunk.index_gap", page("/a", missing=[3]))), "chunk.index_gap")


def test_points_without_a_page_explain_nothing_when_more_pages_lack_their_index():
    lost = finding("payload.missing_field", Subject(name="1", details={"chunk_index": 2}), scope="source_url")
    gaps = finding("chunk.index_gap", page("/a", missing=[2]), page("/b", missing=[2]))
    assert because(link(lost, gaps), "chunk.index_gap") is None


def test_a_point_that_lacks_two_fields_is_lost_once():
    lost = Subject(name="1", details={"chunk_index": 2})
    gaps = finding("chunk.index_gap", page("/a", missing=[2]), page("/b", missing=[2]))
    linked = link(
        finding("payload.missing_field", lost, scope="source_url"),
        finding("payload.missing_field", lost, scope="title"),
        gaps,
    )
    assert because(linked, "chunk.index_gap") is None


def test_a_page_whose_only_chunk_lost_its_source_is_missing_because_of_that():
    lost = finding("payload.missing_field", Subject(name="1", details={"chunk_index": 0}), scope="source_url")
    assert because(link(lost, finding("coverage.missing_page", page("/a"))), "coverage.missing_page")


def test_a_page_is_missing_because_its_chunks_are_stored_as_a_page_out_of_scope():
    missing, orphan = finding("coverage.missing_page", page("/a")), finding("coverage.orphan_page", page("/old"))
    assert because(link_consequences([missing, orphan], page_modules={}), "coverage.missing_page") is None
    linked = link_consequences([missing, orphan], page_modules={}, moved={"/a": ["/old"]})
    assert because(linked, "coverage.missing_page") == "coverage.orphan_page"
    assert [entry.code for entry in linked] == ["coverage.orphan_page", "coverage.missing_page"]


def test_a_point_follows_from_what_is_wrong_with_itself_and_not_with_its_neighbour():
    drifted = finding("integrity.drifted", Subject(name="1", page="/a"))
    same = finding("text.mojibake", Subject(name="1", page="/a"))
    neighbour = finding("text.mojibake", Subject(name="2", page="/a"))
    assert because(link(drifted, same), "integrity.drifted") == "text.mojibake"
    assert because(link(drifted, neighbour), "integrity.drifted") is None


def test_lost_headings_explain_lost_passages_that_are_headings_and_no_others():
    headings = finding("integrity.heading_loss", page("/a"))
    lost = finding("integrity.not_captured", page("/a", passages=[{"kind": "heading"}]))
    assert because(link(headings, lost), "integrity.not_captured") == "integrity.heading_loss"
    more = finding("integrity.not_captured", page("/a", passages=[{"kind": "heading"}, {"kind": "paragraph"}]))
    assert because(link(headings, more), "integrity.not_captured") is None


def test_points_without_a_page_explain_what_their_pages_lack_when_there_are_enough_of_them():
    lost = [finding("integrity.not_captured", page("/a")), finding("integrity.heading_loss", page("/b"))]
    stray = [Subject(name=name, details={"chunk_index": 3}) for name in ("1", "2")]
    linked = link(finding("payload.missing_field", *stray, scope="source_url"), *lost)
    assert because(linked, "integrity.not_captured") == "payload.missing_field"
    assert because(linked, "integrity.heading_loss") == "payload.missing_field"
    linked = link(finding("payload.missing_field", stray[0], scope="source_url"), *lost)
    assert because(linked, "integrity.not_captured") is None


def test_points_that_share_a_wrong_address_and_an_index_repeat_each_other_because_of_it():
    points = [Subject(name=name, page="not a url") for name in ("1", "2")]
    linked = link(
        finding("payload.invalid_value", *points, scope="source_url"), finding("chunk.duplicate_index", *points)
    )
    assert because(linked, "chunk.duplicate_index") == "payload.invalid_value"


def test_in_an_index_that_counts_from_1_a_missing_page_lacks_chunk_1():
    lost = finding("payload.missing_field", Subject(name="1", details={"chunk_index": 1}), scope="source_url")
    assert because(link(lost, finding("coverage.missing_page", page("/a"))), "coverage.missing_page")


def test_a_count_is_off_because_the_text_was_cut_after_it_was_counted():
    cut, counted = (finding(code, Subject(name="1")) for code in ("chunk.too_small", "chunk.token_count_off"))
    assert because(link(cut, counted), "chunk.token_count_off") == "chunk.too_small"


def test_a_chunk_is_too_long_because_its_letters_are_damaged():
    damaged, long = (finding(code, Subject(name="1")) for code in ("text.mojibake", "chunk.over_model_limit"))
    assert because(link(long, damaged), "chunk.over_model_limit") == "text.mojibake"


@pytest.mark.parametrize("code", ["integrity.gone", "integrity.drifted"])
def test_a_chunk_is_not_on_its_page_because_of_boilerplate_only_where_that_is_what_differs(code):
    def changed(name: str, words: int) -> Subject:
        return Subject(name=name, details={"changed_words": words, "words": 3 * words})

    frame = [Subject(name=name, details={"phrases": ["on this page", "accept all cookies"]}) for name in "123"]
    linked = link(
        finding("text.boilerplate", *frame), finding(code, changed("1", 7), changed("2", 60), changed("3", 0))
    )
    assert by_subject(linked, code) == {"1": "text.boilerplate", "2": None, "3": None}


@pytest.mark.parametrize("code", ["integrity.not_captured", "integrity.heading_loss"])
def test_content_is_lost_because_of_the_short_chunk_that_was_cut_and_not_of_another(code):
    short = finding("chunk.too_small", Subject(name="1", page="/a"), Subject(name="2", page="/b"))
    linked = link(short, finding(code, page("/a", cut_chunks=["1"]), page("/b", cut_chunks=["7"])))
    assert by_subject(linked, code) == {"/a": "chunk.too_small", "/b": None}


def test_counts_are_off_because_one_count_stands_in_every_point():
    def constant(field: str) -> Subject:
        return Subject(name=f"payload_{field}", details={"field": field})

    off = finding("chunk.token_count_off", "1")
    assert because(link(off, finding("payload.constant_field", constant("module"))), off.code) is None
    linked = link(off, finding("payload.constant_field", constant("module"), constant("token_count")))
    assert because(linked, off.code) == "payload.constant_field"


@pytest.mark.parametrize("code", ["chunk.duplicate_text", "chunk.near_duplicate"])
def test_a_copy_beside_a_whole_page_is_gone_from_it_because_it_is_a_copy_and_an_overwritten_chunk_is_not(code):
    def gone(name: str, *, whole: bool) -> Subject:
        return Subject(name=name, page=f"/{name}", details={"page_is_whole": whole})

    linked = link(
        finding(code, "1", "2", "3"), finding("integrity.gone", gone("1", whole=True), gone("2", whole=False))
    )
    assert by_subject(linked, "integrity.gone") == {"1": code, "2": None}
