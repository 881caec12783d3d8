"""What follows from what, told by the aspects that codes break and read and the entities that subjects share."""

from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.graph import can_follow, consequences_of
from ragval_pipeline.findings.model import Finding, Need, Subject
from ragval_pipeline.rules.aspects import OF_VECTORS, Aspect
from tests.findings.linking import because, finding, follows, linked, page, point, query


def test_every_aspect_is_broken_by_some_code_and_read_by_another():
    for aspect in Aspect:
        broken = {row.code for row in CATALOGUE.values() if aspect in row.breaks}
        read = {row.code for row in CATALOGUE.values() if aspect in row.reads}
        assert broken, aspect
        assert read - broken, aspect


def test_no_code_follows_from_itself_by_way_of_others():
    graph = {code: {cause for cause in CATALOGUE if can_follow(code, cause)} for code in CATALOGUE}
    assert set(TopologicalSorter(graph).static_order()) == set(CATALOGUE)


def test_a_deleted_page_can_fail_queries_and_by_them_the_metrics_and_no_text():
    assert consequences_of("coverage.missing_page") == {
        "query.dead_target", "query.failed", "regression.query_lost", "regression.significant_drop",
    } | {
        "integrity.not_captured", "integrity.heading_loss", "query.weak_oracle", "query.unmatched_judgements",
        "retrieval.lexical_better", "traffic.unanswered",
    }  # fmt: skip


def test_a_field_can_spoil_only_what_reads_that_field():
    assert "coverage.missing_page" in consequences_of("payload.missing_field", "source_url")
    assert "coverage.missing_page" not in consequences_of("payload.missing_field", "title")


def test_a_query_follows_from_the_page_that_it_expects_and_from_no_other():
    failed = finding("query.failed", query("q1", "/a"), query("q2", "/b"))
    found = linked(failed, finding("coverage.missing_page", page("/a")))
    assert because(found, "query.failed") == {"q1": "coverage.missing_page", "q2": None}
    assert found[0].because is None
    whole = linked(failed, finding("coverage.missing_page", page("/a")), finding("chunk.index_gap", page("/b")))
    assert because(whole, "query.failed") == {"q1": "coverage.missing_page", "q2": "chunk.index_gap"}
    assert whole[0].because == "coverage.missing_page"


def wrong(field: str, code: str = "payload.empty_field") -> Finding:
    """A field of point 1 is wrong."""
    return finding(code, point("1", fields=(field,)), scope=field)


def constant(field: str) -> Finding:
    return finding("payload.constant_field", page(field, fields=(field,)))


def without(*aspects: Aspect) -> dict[str, frozenset[Aspect]]:
    return {"without": frozenset(aspects)}


DAMAGED, TWICE = finding("text.mojibake", point("1")), finding("chunk.ingested_twice", page("/a"))
COPIES = finding("chunk.duplicate_text", "1", "2", "3")
CROWDED = finding("retrieval.crowded_top_k", query("q", points=("1", "2")))
HOST = finding("coverage.foreign_host", page("old.example.org", pages=("/a",)))
UNFIT = finding("query.threshold_unfit", query("0.7", thresholds=(0.7,), **without(Aspect.SELECTION)))
JUDGED = finding("query.failed", query("q", "/a", fields=("chapter",)))
TAIL = finding("chunk.stale_tail", point("1", **without(Aspect.LETTERS)))
EMBEDDED = finding("vector.text_mismatch", point("1", fields=("title", "headings")))


@pytest.mark.parametrize(
    ("consequence", "cause", "is_one"),
    [
        # A point, its page, and their neighbours.
        (finding("integrity.drifted", point("1")), DAMAGED, True),
        (finding("integrity.drifted", point("2")), DAMAGED, False),
        (finding("retrieval.dark_page", page("/a")), DAMAGED, True),
        (finding("retrieval.dark_page", page("/b")), DAMAGED, False),
        (finding("chunk.too_small", point("1")), DAMAGED, True),
        (finding("chunk.stale_tail", point("1")), DAMAGED, True),
        (finding("chunk.near_duplicate", point("1")), finding("integrity.gone", point("1")), True),  # a notice
        (finding("chunk.near_duplicate", point("1")), finding("text.markup", point("1")), True),
        (TAIL, DAMAGED, False),  # told by its date
        (TAIL, TWICE, True),
        (TAIL, finding("chunk.ingested_twice", page("/b")), False),
        (finding("integrity.heading_loss", page("/a")), finding("chunk.too_small", point("1")), True),
        (
            finding("integrity.heading_loss", page("/a", **without(Aspect.CUT))),
            finding("chunk.too_small", point("1")), False,
        ),
        # What is read from a field follows from that field.
        (finding("text.hash_mismatch", point("1")), wrong("text"), True),
        (finding("integrity.gone", point("1")), finding("text.hash_mismatch", point("1")), True),
        (finding("vector.zero", point("1")), wrong("text"), True),
        (finding("vector.zero", point("1")), wrong("title"), False),
        (finding("vector.missing", point("1")), wrong("text"), True),
        (EMBEDDED, wrong("headings", "payload.wrong_type"), True),
        (finding("vector.text_mismatch", point("1")), wrong("headings", "payload.wrong_type"), False),
        (finding("coverage.orphan_page", page("/a")), wrong("title"), False),
        (finding("integrity.not_captured", page("/a")), wrong("title"), False),
        (finding("coverage.orphan_page", page("/a")), wrong("source_url", "payload.wrong_type"), True),
        (JUDGED, wrong("source_url", "payload.wrong_type"), False),
        (JUDGED, wrong("chapter", "payload.missing_field"), True),
        (finding("retrieval.dark_page", page("/a")), constant("title"), True),
        (finding("retrieval.dark_page", page("/a")), wrong("title"), False),  # others still tell it apart
        (finding("integrity.gone", point("1"), point("2", page="/b")), constant("source_url"), True),
        (finding("integrity.gone", point("1"), point("2", page="/b")), constant("title"), False),
        # Answers, and the hits that fill them.
        (CROWDED, finding("chunk.duplicate_index", point("2"), point("9")), True),
        (CROWDED, finding("chunk.duplicate_index", point("8"), point("9")), False),
        (CROWDED, finding("chunk.over_model_limit", point("1")), False),
        (finding("query.failed", query("q", "/z", points=("1", "x"))), COPIES, False),  # one copy takes no more room
        (finding("query.failed", query("q", "/z", points=("1", "x", "2"))), COPIES, True),
        (
            finding("query.failed", query("q", "/a")),
            finding("text.glued_words", *(point(str(number), "/b") for number in range(100))), False,
        ),
        # Pages of another host, and low scores.
        (finding("coverage.missing_page", page("/a")), HOST, True),
        (finding("query.failed", query("q", "/a", fields=("source_url",))), HOST, True),
        (finding("query.failed", query("q", "/a", **without(Aspect.FIELD))), HOST, False),
        # What queries are held to.
        (finding("query.failed", query("q", thresholds=(0.7,))), UNFIT, True),
        (finding("query.failed", query("q", thresholds=(0.6,))), UNFIT, False),
        (finding("query.failed", query("q", "/a")), UNFIT, False),
        (finding("query.negative_scored_high", query("n", thresholds=(0.7,))), UNFIT, False),
        (finding("query.negative_scored_high", query("q")), finding("query.duplicate", query("q")), True),
        (finding("query.weak_oracle", query("q", "/a")), TWICE, True),
        (finding("query.weak_oracle", query("q", "/a")), finding("coverage.url_variant", page("/b")), False),
    ],
    ids=lambda entry: entry.code if isinstance(entry, Finding) else "",
)  # fmt: skip
def test_what_is_wrong_explains_what_reads_it_of_the_same_entity(consequence: Finding, cause: Finding, is_one: bool):
    assert follows(consequence, cause) == (cause.code if is_one else None)


@pytest.mark.parametrize(
    "cause",
    [
        finding("integrity.gone", point("1")),
        finding("payload.wrong_type", point("1", fields=("source_url",)), scope="url"),
        finding("payload.field_map", replace(page("text"), fields=("text",))),
        finding("coverage.loopback_host", page("/a")),
        finding("coverage.orphan_page", page("/a")),
        finding("source.page_unfit", page("/a")),
        finding("integrity.page_unreadable", page("/a")),
        finding("source.unreachable", "https://x.org/sitemap.xml"),
        finding("source.malformed", "https://x.org/sitemap.xml"),
        finding("source.empty", "https://x.org/sitemap.xml"),
    ],
    ids=lambda cause: cause.code,
)
def test_a_copy_follows_from_what_leaves_its_point_without_a_place(cause):
    copies = finding("chunk.duplicate_text", point("1"))
    assert follows(copies, cause) == cause.code
    assert follows(cause, copies) is None


def test_a_page_that_is_not_there_to_be_ingested_is_missing_because_of_it():
    missing = finding("coverage.missing_page", page("/a"), page("/b"))
    assert follows(missing, finding("source.page_unfit", page("/a"), page("/b"))) == "source.page_unfit"
    assert because(linked(missing, finding("source.page_unfit", page("/a"))), "coverage.missing_page") == {
        "/a": "source.page_unfit", "/b": None,
    }  # fmt: skip
    # Its chunks may be stored under the page that it redirects to.
    moved = finding("source.page_unfit", page("/a", pages=("/new",)))
    orphans = linked(finding("coverage.orphan_page", page("/new"), page("/removed")), moved)
    assert because(orphans, "coverage.orphan_page") == {"/new": "source.page_unfit", "/removed": None}
    # Whether it can be read at this moment says nothing about when it was to be ingested.
    assert follows(missing, finding("integrity.page_unreadable", page("/a"), page("/b"))) is None


def test_a_query_that_names_only_a_module_is_about_all_its_pages():
    failed = finding("query.failed", query("q", module="one"))
    missing = finding("coverage.missing_page", page("/a"))
    assert follows(failed, missing, site=Site(pages_of={"one": ["/a", "/b"]})) == "coverage.missing_page"
    assert follows(failed, missing, site=Site(pages_of={"two": ["/a"]})) is None


def test_findings_of_one_code_in_several_fields_all_explain():
    parts = [
        finding("payload.empty_field", point(name, f"/{name}", fields=(field,)), scope=field)
        for name, field in (("1", "module"), ("2", "chapter"))
    ]
    failed = finding(
        "query.failed", query("q1", "/1", fields=("module",)), query("q2", "/2", fields=("module", "chapter"))
    )
    assert follows(failed, *parts) == "payload.empty_field"


def test_a_field_under_another_name_is_missing_because_of_it_and_one_of_one_value_is_not():
    missing = finding("payload.missing_field", point("1", fields=("module",)), scope="module_name")
    mapped = finding("payload.field_map", "module_name")
    field = replace(mapped.subjects[0], fields=("module",))
    assert follows(missing, mapped.model_copy(update={"subjects": (field,)})) == "payload.field_map"
    assert follows(missing, finding("payload.constant_field", field)) is None


def test_points_whose_page_is_not_known_explain_the_pages_that_lack_their_index_when_there_are_enough():
    def lost(*names: str):
        return finding(
            "payload.missing_field", *(point(name, None, fields=("source_url",), indices=(2,)) for name in names)
        )

    gaps = finding("chunk.index_gap", page("/a", indices=(2,)), page("/b", indices=(2,)))
    assert follows(gaps, lost("1", "2")) == "payload.missing_field"
    assert follows(gaps, lost("1")) is None
    assert follows(finding("chunk.index_gap", page("/a", indices=(3,))), lost("1")) is None
    # A point that lacks two fields is lost once.
    other = finding("payload.empty_field", point("1", None, fields=("title",), indices=(2,)))
    assert follows(gaps, lost("1"), other) is None


def test_a_page_lacks_what_is_stored_under_another_address_or_none():
    site = Site(moved={"/a": ["/old", "7"]})
    missing = finding("coverage.missing_page", page("/a"))
    assert follows(missing, finding("coverage.orphan_page", page("/old")), site=site) == "coverage.orphan_page"
    assert follows(missing, finding("coverage.orphan_page", page("/old"))) is None
    unnamed = finding("payload.missing_field", point("7", None, fields=("source_url",)))
    assert follows(missing, unnamed, site=site) == "payload.missing_field"
    assert (
        follows(finding("retrieval.dark_page", page("/a")), finding("vector.zero", point("7", None)), site=site) is None
    )


def test_wrong_vectors_explain_searches_where_they_are_and_everywhere_from_a_twentieth_of_the_points_on():
    few = finding("vector.zero", *(point(str(number), "/b") for number in range(4)))
    many = finding("vector.zero", *(point(str(number), "/b") for number in range(5)))
    found = finding("query.failed", query("q", "/a"))
    assert follows(found, few) is None
    assert follows(found, many) == "vector.zero"
    assert follows(finding("query.failed", query("q", "/b")), few) == "vector.zero"
    assert follows(finding("query.threshold_unfit", query("0.7", thresholds=(0.7,))), many) == "vector.zero"
    assert follows(found, finding("vector.model_mismatch", "docs")) == "vector.model_mismatch"
    sampled = finding("vector.mixed_models", *(point(str(number), "/b") for number in range(2)), looked_at=10)
    assert follows(found, sampled) == "vector.mixed_models"


@pytest.mark.parametrize("code", ["integrity.gone", "integrity.drifted"])
def test_the_frame_of_a_page_explains_chunks_of_which_little_more_differs(code: str):
    frame = finding("text.boilerplate", *(point(name, words=20) for name in "123"))
    differing = finding(code, point("1", words=19), point("2", words=21), point("3"))
    assert because(linked(differing, frame), code) == {"1": "text.boilerplate", "2": None, "3": None}


def test_a_metric_fell_because_of_failed_queries_only_when_they_are_all_that_pull_it_down():
    failed = finding("query.failed", query("q1"), query("q2"))
    drop = finding("regression.significant_drop", query("ndcg", queries=("q1", "q2")), scope="ndcg")
    assert follows(drop, failed) == "query.failed"
    other = finding("regression.significant_drop", query("ndcg", queries=("q1", "vanished")), scope="ndcg")
    assert follows(other, failed) is None
    assert follows(finding("regression.query_lost", query("q1")), failed) == "query.failed"
    assert follows(finding("regression.query_lost", query("q3")), failed) is None


def test_an_info_finding_leads_no_error():
    cut = finding("chunk.too_small", point("1"))
    assert follows(finding("integrity.not_captured", page("/a")), cut) is None
    assert follows(finding("integrity.heading_loss", page("/a")), cut) == "chunk.too_small"
    severe = cut.model_copy(update={"severity": "warning"})
    assert follows(finding("integrity.not_captured", page("/a")), severe) == "chunk.too_small"


def test_a_vector_of_a_longer_text_follows_from_content_that_its_page_lost_next_to_it():
    old = finding("vector.text_mismatch", point("1"), point("2"), point("3", without=frozenset({Aspect.KEPT})))
    lost = finding("integrity.not_captured", page("/a", points=("1", "3")))
    found = linked(old, lost)
    assert because(found, old.code) == {"1": "integrity.not_captured", "2": None, "3": None}
    assert because(found, lost.code) == {"/a": None}


@pytest.mark.parametrize(("lost", "explained"), [(0.2, False), (2.5, True), (9.0, True)])
def test_a_count_follows_from_content_lost_beside_its_chunk_where_that_is_most_of_what_it_is_too_high_by(
    lost: float, explained: bool
):
    """A count times five of a whole chunk beside a lost line is wrong by itself."""
    off = finding("chunk.token_count_off", point("1", surplus=4.0))
    passage = finding("integrity.not_captured", page("/a", points=("1",), beside=(lost,)))
    assert follows(off, passage) == ("integrity.not_captured" if explained else None)


def test_a_text_under_a_wrong_address_explains_the_page_that_lacks_it_and_not_the_one_that_it_is_stored_under():
    apart = {"without": frozenset({Aspect.TEXT})}
    lost = finding("integrity.not_captured", page("/a", **apart), page("/b", **apart))
    stray = finding("integrity.gone", point("1", page="/b"))
    found = linked(lost, stray, site=Site(moved={"/a": ("1",)}))
    assert because(found, lost.code) == {"/a": "integrity.gone", "/b": None}


def test_what_a_page_changed_after_it_was_embedded_explains_texts_and_losses_on_it_and_no_number_or_copy():
    stale = finding("coverage.stale_page", page("/a"))
    drifted = finding("integrity.drifted", point("1"), point("2", page="/b"))
    assert because(linked(drifted, stale), drifted.code) == {"1": "coverage.stale_page", "2": None}
    for code in ("integrity.not_captured", "integrity.heading_loss"):
        assert follows(finding(code, page("/a")), stale) == "coverage.stale_page"
    assert follows(finding("chunk.index_gap", page("/a")), stale) is None
    assert follows(finding("chunk.duplicate_text", point("1")), stale) is None


def test_a_finding_with_several_causes_counts_its_subjects_by_cause():
    drifted = finding("integrity.drifted", point("1"), point("2"), point("3", page="/b"), point("4", page="/c"))
    stale, damaged = finding("coverage.stale_page", page("/b")), finding("text.mojibake", point("1"), point("2"))
    some = linked(drifted, stale, damaged)[0]
    assert some.details["causes"] == {"text.mojibake": 2, "coverage.stale_page": 1}
    whole = linked(drifted, finding("coverage.stale_page", page("/a"), page("/b"), page("/c")))[0]
    assert (whole.because, "causes" in whole.details) == ("coverage.stale_page", False)


def test_what_decides_by_itself_comes_before_what_can_only_be_inferred():
    failed = finding("query.failed", query("q", "/a", thresholds=(0.7,)))
    long = finding("chunk.over_model_limit", point("1"))
    unfit = finding("query.threshold_unfit", query("0.7", thresholds=(0.7,)))
    assert follows(failed, long, unfit) == "query.threshold_unfit"


def test_a_query_that_missed_several_conditions_follows_only_from_causes_of_them_all():
    low = Need(aspects=frozenset({Aspect.VECTOR, Aspect.REACH}))
    unnamed = Need(aspects=frozenset({Aspect.VECTOR, Aspect.FIELD}), fields=("module",))
    failed = finding("query.failed", query("q", "/a", thresholds=(0.7,), needs=(low, unnamed)))
    empty = finding("payload.empty_field", point("1", fields=("module",)), scope="module_name")
    unfit = finding("query.threshold_unfit", query("0.7", thresholds=(0.7,)))
    assert follows(failed, empty) is None
    assert follows(failed, unfit) is None
    assert follows(failed, finding("vector.zero", point("1"))) == "vector.zero"
    both = linked(failed, empty, unfit)[0]
    assert both.because == "payload.empty_field"
    assert both.remedy == "Goes away with payload.empty_field and query.threshold_unfit."


def test_of_several_causes_the_one_that_explains_most_is_named_then_the_gravest():
    failed = finding("query.failed", query("q1", "/a"), query("q2", "/b"))
    dark, zero = finding("retrieval.dark_page", page("/a"), page("/b")), finding("vector.zero", point("1"))
    assert because(linked(failed, dark, zero), "query.failed") == dict.fromkeys(("q1", "q2"), "retrieval.dark_page")
    assert follows(finding("query.failed", query("q1", "/a")), dark, zero) == "vector.zero"


def test_of_causes_that_follow_from_each_other_the_root_is_named():
    points = [point("1"), point("2")]
    twice, variant = finding("chunk.duplicate_index", *points), finding("coverage.url_variant", page("/a"))
    assert follows(finding("chunk.duplicate_text", *points), twice, variant) == "coverage.url_variant"


def test_a_query_about_a_page_without_chunks_fails_because_of_that_and_not_of_its_dead_target():
    failed, dead = (finding(code, query("q", "/a")) for code in ("query.failed", "query.dead_target"))
    missing = finding("coverage.missing_page", page("/a"))
    assert {entry.because for entry in linked(failed, dead, missing)[:2]} == {"coverage.missing_page"}


def test_the_remedy_of_what_follows_is_its_cause_and_the_rest_keeps_its_own():
    failed = finding("query.failed", query("q1", "/a"), query("q2", "/b"), remedy="Look at it.")
    missing, gap = finding("coverage.missing_page", page("/a")), finding("chunk.index_gap", page("/b"))
    assert linked(failed)[0].remedy == "Look at it."
    assert linked(failed, missing)[0].remedy == "Look at it. 1 of 2 goes away with coverage.missing_page."
    assert linked(failed, missing, gap)[0].remedy == "Goes away with coverage.missing_page and chunk.index_gap."


def test_computed_causes_take_the_place_of_derived_ones():
    failed = finding("query.failed", query("q1", "/a"), query("q2", "/b"), query("q3", thresholds=(0.7,)))
    causes = [
        finding("text.mojibake", point("1"), point("2", "/b")),
        finding("coverage.missing_page", page("/c")),
        finding("query.threshold_unfit", query("0.7", thresholds=(0.7,))),
    ]
    computed = {"query.failed": {"q1": frozenset({"coverage.missing_page", "vector.zero"}), "q2": frozenset()}}
    found = linked(failed, *causes, simulated=computed)[0]
    assert {entry.name: entry.details for entry in found.subjects} == {
        "q1": {"because": "coverage.missing_page", "simulated": True},
        "q2": {},
        "q3": {"because": "query.threshold_unfit"},
    }


def test_a_cause_that_is_too_large_to_be_tried_is_inferred_and_may_be_one():
    wrong = finding("vector.model_mismatch", "c")
    failed, dark = finding("query.failed", query("q", "/a")), finding("retrieval.dark_page", page("/a"))
    computed = {"query.failed": {}, "retrieval.dark_page": {}}
    assert follows(failed, wrong, simulated=computed) is None
    found = linked(failed, dark, wrong, simulated=computed, untried=frozenset({"vector.model_mismatch"}))
    assert [entry.because for entry in found[:2]] == ["vector.model_mismatch"] * 2
    assert "It may go away with vector.model_mismatch" in found[0].remedy


def test_beside_a_cause_that_was_tried_one_that_was_not_is_not_promised_to_clear_the_rest():
    failed = finding("query.failed", query("q", "/a"), query("r", "/a"))
    causes = finding("embedder.input_type", "setting"), finding("retrieval.hub_chunk", point("9"))
    computed = {"query.failed": {"q": frozenset({"retrieval.hub_chunk"})}}
    found = linked(failed, *causes, simulated=computed, untried=frozenset({"embedder.input_type"}))
    assert because(found, "query.failed") == {"q": "retrieval.hub_chunk", "r": "embedder.input_type"}
    assert "It may go away with embedder.input_type and retrieval.hub_chunk" in found[0].remedy


def test_what_was_not_asked_again_among_many_has_an_inferred_cause():
    dark = finding("retrieval.dark_page", page("/a"), page("/b"))
    wrong = finding("vector.model_mismatch", Subject(name="collection"))
    found = linked(dark, wrong, simulated={dark.code: {}}, unasked={dark.code: frozenset({"/b"})})
    assert because(found, dark.code) == {"/a": None, "/b": "vector.model_mismatch"}


def test_a_computed_cause_needs_no_aspect_that_both_share():
    failed = finding("query.failed", query("q1", "/a"), query("q2", "/b"))
    computed = {"query.failed": {"q1": frozenset({"text.zero_width"})}}
    found = linked(failed, finding("text.zero_width", point("1")), simulated=computed)
    assert because(found, "query.failed") == {"q1": "text.zero_width", "q2": None}
    hub = finding("retrieval.hub_chunk", point("9"))
    assert (
        follows(hub, finding("text.zero_width", point("1")), simulated={hub.code: {"9": {"text.zero_width"}}}) is None
    )
    info = finding("chunk.near_duplicate", point("1"))
    assert linked(failed, info, simulated={"query.failed": {"q1": frozenset({info.code})}})[0].because is None


def test_a_query_that_several_repairs_clear_only_together_follows_from_each_of_them():
    failed = finding("query.failed", query("q", "/a"))
    causes = [finding("vector.zero", point("1")), finding("chunk.stale_tail", point("2", "/b"))]
    needs = (frozenset({"vector.zero"}), frozenset({"chunk.stale_tail", "text.mojibake"}))
    found = linked(failed, *causes, simulated={"query.failed": {"q": needs}})[0]
    assert found.remedy == "Goes away with vector.zero and chunk.stale_tail."
    expected = {"because": "vector.zero", "together_with": ["chunk.stale_tail"], "simulated": True}
    assert found.subjects[0].details == expected
    assert linked(failed, causes[0], simulated={"query.failed": {"q": needs}})[0].because is None


def test_a_cause_about_the_subject_comes_before_one_that_explains_more_subjects_elsewhere():
    failed = finding("query.failed", query("q1", "/a"), query("q2", "/c"), query("q3", "/d"))
    causes = [
        finding("coverage.missing_page", page("/a")),
        finding("vector.zero", *(point(str(number), "/b") for number in range(5))),
    ]
    expected = {"q1": "coverage.missing_page", "q2": "vector.zero", "q3": "vector.zero"}
    assert because(linked(failed, *causes), "query.failed") == expected
    zero = frozenset({"vector.zero"})
    computed = {"query.failed": {"q1": zero | {"coverage.missing_page"}, "q2": zero, "q3": zero}}
    assert because(linked(failed, *causes, simulated=computed), "query.failed") == expected


def test_a_root_comes_before_its_consequence_only_where_that_follows_from_it():
    failed = finding("query.failed", query("q", "/a"))
    gone, frame = finding("integrity.gone", point("1", words=20)), finding("text.boilerplate", point("2", words=30))
    computed = {"query.failed": {"q": frozenset({gone.code, frame.code})}}
    assert linked(failed, gone, frame, simulated=computed)[0].because == "integrity.gone"
    framed = finding("text.boilerplate", point("1", words=30))
    assert linked(failed, gone, framed, simulated=computed)[0].because == "text.boilerplate"


def test_a_criterion_of_the_vectors_fell_because_of_wrong_ones_although_no_query_was_asked_for_it():
    wrong = finding("vector.text_mismatch", *(point(str(number), "/b") for number in range(5)))
    tried = {"regression.significant_drop": {}}, {"regression.significant_drop": {"x": frozenset({wrong.code})}}
    for without, cause in ((frozenset(), wrong.code), (OF_VECTORS, None)):
        drop = finding("regression.significant_drop", Subject(name="x", without=without), scope="x")
        assert follows(drop, wrong, simulated=tried[0], refuted=tried[1]) == cause


def test_a_page_that_is_ingested_again_under_another_address_follows_from_the_addresses():
    found = linked(finding("chunk.ingested_twice", page("/a")), finding("coverage.url_variant", page("/a")))
    assert [entry.because for entry in found] == ["coverage.url_variant", None]


def test_a_query_that_fails_without_its_decided_cause_too_does_not_follow_from_it():
    failed = finding("query.failed", query("q", "/a", thresholds=(0.7,)))
    unfit = finding("query.threshold_unfit", query("0.7", thresholds=(0.7,)))
    vain = {"query.failed": {"q": frozenset({"query.threshold_unfit"})}}
    assert linked(failed, unfit, simulated={"query.failed": {}})[0].because == "query.threshold_unfit"
    assert linked(failed, unfit, simulated={"query.failed": {}}, refuted=vain)[0].because is None


def test_two_decided_causes_may_clear_together_what_neither_clears_alone():
    needs = (Need(aspects={Aspect.FIELD}, fields=("module",)), Need(aspects={Aspect.TARGET}))
    failed = finding("query.failed", query("q", "/a", points=("1",), needs=needs))
    causes = [
        finding("payload.unexpected_module", point("1", fields=("module",))),
        finding("coverage.missing_page", page("/a")),
    ]
    vain = {"query.failed": {"q": frozenset({"payload.unexpected_module", "coverage.missing_page"})}}
    found = linked(failed, *causes, simulated={"query.failed": {}}, refuted=vain)[0]
    assert found.remedy == "Goes away with coverage.missing_page and payload.unexpected_module."


def test_what_decides_one_condition_explains_those_that_its_trial_leaves_open():
    low = Need(aspects=frozenset({Aspect.PRESENCE, Aspect.REACH}))
    elsewhere = Need(aspects=frozenset({Aspect.PRESENCE, Aspect.TARGET}))
    failed = finding("query.failed", query("q", "/a", needs=(low, elsewhere)))
    missing = finding("coverage.missing_page", page("/a"))
    open_, vain = {"query.failed": {}}, {"query.failed": {"q": frozenset({"coverage.missing_page"})}}
    assert linked(failed, missing, simulated=open_)[0].because == "coverage.missing_page"
    assert linked(failed, missing, simulated=open_, refuted=vain)[0].because is None


def test_a_text_that_differs_from_its_page_follows_from_the_older_version_that_is_stored_beside_the_newer() -> None:
    older, newer = point("old"), point("new", without=frozenset({Aspect.LATEST}))
    numbers = finding("chunk.duplicate_index", older, newer)
    drifted = finding("integrity.drifted", point("old"), point("new"), point("far", "/b"))
    assert because(linked(numbers, drifted), "integrity.drifted") == {
        "old": "chunk.duplicate_index",
        "new": None,
        "far": None,
    }
    twice = finding("chunk.ingested_twice", page("/a"))
    assert because(linked(twice, drifted), "integrity.drifted")["old"] == "chunk.ingested_twice"
    same = finding("chunk.ingested_twice", page("/a", without=frozenset({Aspect.CURRENT})))
    assert because(linked(same, drifted), "integrity.drifted")["old"] is None


def test_a_phrase_in_most_chunks_drowns_out_others_however_short_it_is():
    failed = finding("query.failed", query("q", "/b"))
    frames = (finding("text.boilerplate", *(point(str(n), extent=0.01) for n in range(size))) for size in (49, 50))
    assert [follows(failed, frame) for frame in frames] == [None, "text.boilerplate"]
