from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.reporting.files.tables import qrels_trec, run_trec
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.assemble import _query_fields
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.retrieval.conditions import questions_of
from ragval_pipeline.validation.retrieval.measure import measure_retrieval
from tests.suite.queries.reading import put, read
from tests.validation.factory import SITE, answer, hit, page_hits, query, settings


def measure(
    asked: Mapping[TestQuery, Sequence[Hit]] | Sequence[tuple[TestQuery, Sequence[Hit]]], **changes: Any
) -> Measurement:
    pairs = list(asked.items()) if isinstance(asked, Mapping) else list(asked)
    answers = [answer(entry.id, *hits) for entry, hits in pairs]
    return measure_retrieval([entry for entry, _ in pairs], answers, settings(**changes))


def values(measurement: Measurement) -> dict[str, tuple[float | None, float | None, float | None]]:
    return {value.name: (value.value, value.numerator, value.denominator) for value in measurement.values}


def codes(measurement: Measurement) -> dict[str, str | None]:
    return {value.name: value.reason_code for value in measurement.values}


def found(measurement: Measurement) -> dict[str, Finding]:
    return {finding.code: finding for finding in measurement.findings}


A, B, NO = page_hits("/a"), page_hits("/b"), page_hits("/c", best=0.3)


def test_negative_queries_count_for_the_pass_rate_and_critical_ones_for_their_own() -> None:
    measurement = measure(
        [
            (query(id="good", relevant_urls=[f"{SITE}/a"]), A),
            (query(id="bad", relevant_urls=[f"{SITE}/a"], critical=True), B),
            (query(id="quiet", negative=True, min_similarity=0.5), NO),
            (query(id="loud", negative=True, min_similarity=0.5, critical=True), A),
        ]
    )
    got = values(measurement)
    assert got["query_pass_rate"] == (0.5, 2, 4)
    assert got["negative_pass_rate"] == (0.5, 1, 2)
    assert got["critical_queries"] == (0.0, 0, 2)


def test_without_negative_or_critical_queries_or_ground_truth_those_are_not_applicable() -> None:
    measurement = measure([(query(id="q", expected_module="m"), A)])
    got = codes(measurement)
    names = ("negative_pass_rate", "critical_queries", "keyword_recall", "accuracy", "mrr", "map", "recall_at_5")
    assert {name: got[name] for name in names} == dict.fromkeys(names, "not_applicable")
    assert got["query_pass_rate"] is None


def test_relevance_and_similarity_are_over_positive_queries() -> None:
    measurement = measure(
        [
            (query(id="high"), page_hits("/a", best=0.9)),
            (query(id="edge"), page_hits("/a", best=0.4999995)),
            (query(id="low"), page_hits("/a", best=0.3)),
            (query(id="none"), ()),
            (query(id="negative", negative=True), page_hits("/a", best=0.95)),
        ]
    )
    got = values(measurement)
    assert got["relevance_rate"] == (0.5, 2, 4)
    assert got["avg_similarity"][0] == pytest.approx((0.9 + 0.4999995 + 0.3) / 3)
    assert got["avg_similarity"][2] == 3
    assert measurement.sections["queries_above_threshold"] == 2


def test_distances_count_downwards() -> None:
    far, near = (hit(1, 2.0),), (hit(1, 0.2), hit(2, 0.4))
    measurement = measure([(query(id="near"), near), (query(id="far"), far)], higher_is_better=False)
    got = values(measurement)
    assert got["query_pass_rate"] == (0.5, 1, 2)
    assert got["relevance_rate"] == (0.5, 1, 2)
    assert got["avg_similarity"][0] == pytest.approx(1.1)
    assert measurement.sections["queries_above_threshold"] == 1


def test_positive_queries_that_find_nothing_leave_the_similarity_open_and_not_excused() -> None:
    measurement = measure([(query(id="q"), ())])
    assert codes(measurement)["avg_similarity"] == "no_data"
    assert codes(measurement)["retrieved_metadata_completeness"] == "no_data"
    assert codes(measurement)["determinism"] == "no_data"
    assert values(measurement)["relevance_rate"] == (0.0, 0, 1)


def test_a_suite_of_negative_queries_has_no_relevance_to_measure() -> None:
    got = codes(measure([(query(id="q", negative=True), NO)]))
    assert got["relevance_rate"] == "not_applicable"
    assert got["avg_similarity"] == "not_applicable"
    assert got["query_pass_rate"] is None


def test_no_query_at_all_is_no_data() -> None:
    measurement = measure([])
    assert codes(measurement)["query_pass_rate"] == "no_data"
    assert codes(measurement)["relevance_rate"] == "no_data"
    assert measurement.sections["queries_above_threshold"] is None


def test_keyword_recall_is_the_mean_share_of_keywords_in_the_texts() -> None:
    texts = (hit(1, chunk_text="A node talks."), hit(2, chunk_text="Ein Café."))
    measurement = measure(
        [
            (query(id="half", expected_keywords=["node", "topic"]), texts),
            (query(id="all", expected_keywords=["cafe"]), texts),
            (query(id="none", expected_keywords=["x", "y"]), ()),
            (query(id="negative", expected_keywords=["node"], negative=True), texts),
            (query(id="unasked"), texts),
        ]
    )
    assert values(measurement)["keyword_recall"] == (0.5, 1.5, 3)


def test_accuracy_asks_for_all_expected_results_else_for_any_relevant_page() -> None:
    measurement = measure(
        [
            (query(id="its one", expected_results=[{"id": "1"}]), A),
            (query(id="one of two", expected_results=[{"id": "1"}, {"id": "99"}], relevant_urls=[f"{SITE}/a"]), A),
            (query(id="page", acceptable_urls=[f"{SITE}/a/"]), A),
            (query(id="no page", relevant_urls=[f"{SITE}/d"]), A),
            (query(id="names none", expected_module="m"), A),
            (query(id="all grades 0", judgements={f"{SITE}/a": 0}), A),
        ]
    )
    assert values(measurement)["accuracy"] == (0.5, 2, 4)


def test_completeness_is_over_the_hits_of_all_queries() -> None:
    whole, lacking = hit(1, source_url=f"{SITE}/a", chunk_index=0), hit(2, point_id="7", source_url=f"{SITE}/a")
    measurement = measure(
        [(query(id="q1"), (whole, lacking)), (query(id="q2", negative=True), (lacking, whole))],
        required=["source_url", "chunk_index"],
    )
    assert values(measurement)["retrieved_metadata_completeness"] == (0.5, 2, 4)
    finding = found(measurement)["retrieval.incomplete_metadata"]
    assert [(s.name, s.page, s.details) for s in finding.subjects] == [
        ("7", f"{SITE}/a", {"lacking": ["chunk_index"], "query": "q1"})
    ]


def test_failed_queries_are_named_with_their_conditions_and_negatives_apart() -> None:
    measurement = measure(
        [
            (query(id="wrong page", relevant_urls=[f"{SITE}/a"], expected_module="m"), B),
            (query(id="nothing", min_similarity=0.5), ()),
            (query(id="loud", negative=True), A),
            (query(id="fine"), A),
        ]
    )
    failed = found(measurement)["query.failed"]
    assert {subject.name: subject.details["conditions"] for subject in failed.subjects} == {
        "wrong page": ["module", "url"],
        "nothing": ["nothing returned"],
    }
    assert failed.subjects[1].details["expected_pages"] == [f"{SITE}/a"]
    assert failed.cause == "Missed: the expected module, any hit at all, the expected page."
    assert [subject.name for subject in found(measurement)["query.negative_scored_high"].subjects] == ["loud"]


def test_a_failed_query_is_about_what_it_expects_and_reads_what_each_missed_condition_reads() -> None:
    stated = {"relevant_urls": [f"{SITE}/a"], "expected_module": "M 1"}
    module_only = query(id="by module", expected_module="M-1", min_similarity=0.95)
    measurement = measure([(query(id="by page", **stated), B), (module_only, B)])
    by_module, by_page = found(measurement)["query.failed"].subjects
    assert (by_page.pages, by_page.module, by_page.thresholds) == ((f"{SITE}/a",), None, ())
    assert [need.fields for need in by_page.needs] == [("module",), ("source_url",)]
    assert all(Aspect.FIELD in need.aspects and Aspect.REACH not in need.aspects for need in by_page.needs)
    assert (by_module.pages, by_module.module, by_module.thresholds) == ((), "m 1", (0.95,))
    # A low score has nothing to do with what a hit is called.
    assert [Aspect.FIELD in need.aspects for need in by_module.needs] == [False, True]
    assert Aspect.RANK in by_module.without - by_page.without


def test_a_negative_query_names_the_hits_that_reach_its_limit_and_no_others() -> None:
    hits = [hit(rank, score) for rank, score in enumerate((0.9, 0.61, 0.6, 0.2), 1)]
    [finding] = measure([(query(id="loud", negative=True, min_similarity=0.6), hits)]).findings
    assert finding.subjects[0].details["points"] == ["1", "2", "3"]


def test_page_metrics_rank_pages_and_not_chunks() -> None:
    hits = page_hits("/a", "/a/", "/a#x", "/b", "/b")
    measurement = measure([(query(id="q", relevant_urls=[f"{SITE}/a"]), hits)])
    got = values(measurement)
    assert got["precision_at_5"][0] == pytest.approx(0.2)  # other tools say 0.6, 0.5 or 2.13
    assert got["hit_at_3"] == (1.0, 1.0, 1)
    assert got["mrr"][0] == 1.0


def test_hits_without_an_address_are_misses_at_their_rank_also_in_the_written_files() -> None:
    hits = (hit(1, point_id="lost"), hit(2, 0.8, source_url=f"{SITE}/a"), hit(3, 0.7, point_id="other"))
    measurement = measure([(query(id="q", relevant_urls=[f"{SITE}/a"]), hits)])
    got = values(measurement)
    assert (got["mrr"][0], got["map"][0]) == (0.5, 0.5)
    assert measurement.sections["precision_metrics"][0].retrieved_urls == [f"{SITE}/a"]
    ranking = list(ir_measures.read_trec_run(io.StringIO(run_trec(measurement.sections["run"]).decode())))
    truth = list(ir_measures.read_trec_qrels(io.StringIO((qrels_trec(measurement.sections["qrels"]) or b"").decode())))
    names = {"mrr": "RR@5", "map": "AP", "precision_at_3": "P@3", "ndcg_at_5": "nDCG@5"}
    measures = {ir_measures.parse_measure(text): name for name, text in names.items()}
    for measured, value in ir_measures.calc_aggregate(list(measures), truth, ranking).items():
        assert got[measures[measured]][0] == pytest.approx(value, abs=1e-9)


def test_page_metrics_say_how_deep_they_look_and_what_limits_them() -> None:
    [mrr, average, precision] = [
        measure([(query(id="q", relevant_urls=[f"{SITE}/a"]), A)], ranks=(3, 10)).value(name)
        for name in ("mrr", "map", "precision_at_3")
    ]
    assert mrr is not None
    assert average is not None
    assert precision is not None
    assert mrr.reason == "mean over 1 query, within the first 5 pages"
    assert average.reason == "mean over 1 query, within the first 10 pages"
    assert precision.reason.endswith("within the first 3 pages, at most 0.333: fewer relevant pages than ranks")


@pytest.mark.parametrize("collection", ["beir", {"topics": "beir/queries.jsonl", "qrels": "beir/qrels/test.tsv"}])
def test_queries_that_nobody_judged_are_shown_and_counted_nowhere(tmp_path: Path, collection: Any) -> None:
    """A BEIR folder leaves out what its qrels leave out: the same data as topics and qrels gives the same figures."""
    lines = [json.dumps({"_id": str(number), "text": f"Question {number}?"}) for number in range(8)]
    put(tmp_path, "beir/queries.jsonl", "\n".join(lines))
    judged = [f"{number}\t{SITE}/{'ab'[number % 2]}\t1" for number in range(5)] + [f"5\t{SITE}/a\t0"]
    put(tmp_path, "beir/qrels/test.tsv", "\n".join(["query-id\tcorpus-id\tscore", *judged]))
    asked = read(tmp_path, collection)
    measurement = measure([(entry, A) for entry in asked])
    got = values(measurement)
    assert got["query_pass_rate"] == (0.6, 3, 5)
    assert got["hit_at_3"][1:] == (3, 5)
    assert [got[name][2] for name in ("relevance_rate", "avg_similarity", "retrieved_metadata_completeness")] == [5] * 3
    shown = {entry.query_id: entry for entry in measurement.sections["query_results"]}
    assert list(shown) == [entry.id for entry in asked]
    assert (shown["5"].passed, shown["5"].status, shown["5"].best_similarity) == (None, "success", 0.9)
    assert "no document was judged" in shown["5"].fail_reason
    fields = _query_fields(measurement.sections)
    assert (fields["total_queries"], fields["passed_queries"], fields["failed_queries"]) == (5, 3, 2)
    assert fields["error_queries"] == 0


def test_a_draft_is_shown_with_how_it_would_do_and_neither_fails_nor_lifts_anything() -> None:
    """No person has confirmed what it expects: 3 of 8 titles that a machine took for questions find their page."""
    wanted = query(id="mine", relevant_urls=[f"{SITE}/a"])
    drafts = [query(id=f"d{n}", status="draft", relevant_urls=[f"{SITE}/a"]) for n in range(2)]
    mixed = measure([(wanted, A), (drafts[0], A), (drafts[1], B)])
    assert values(mixed)["query_pass_rate"] == (1.0, 1, 1)
    assert values(mixed)["retrieved_metadata_completeness"][2] == 3
    assert [finding.code for finding in mixed.findings] == []
    shown = {entry.query_id: entry for entry in mixed.sections["query_results"]}
    assert [shown[name].passed for name in ("mine", "d0", "d1")] == [True, None, None]
    assert shown["d0"].fail_reason.endswith("it would currently pass")
    assert "it would currently fail: " in shown["d1"].fail_reason
    assert _query_fields(mixed.sections)["total_queries"] == 1


def test_of_drafts_alone_no_pass_rate_is_measured_and_none_is_missed() -> None:
    drafts = [
        (query(id=f"d{n}", status="draft", relevant_urls=[f"{SITE}/a"]), answer) for n, answer in enumerate((A, B))
    ]
    measured = measure(drafts)
    for name in ("query_pass_rate", "relevance_rate", "avg_similarity", "accuracy"):
        value = measured.value(name)
        assert value is not None
        assert (value.value, value.reason_code) == (None, "not_applicable")
    rate = measured.value("query_pass_rate")
    assert rate is not None
    assert rate.reason == "all 2 queries are drafts, which do not count yet; 1 would pass"
    for name in ("negative_pass_rate", "mrr"):
        value = measured.value(name)
        assert value is not None
        assert (value.reason_code, value.reason) == ("not_applicable", rate.reason)
    assert measured.findings == ()


def test_the_reciprocal_rank_looks_within_top_k_pages() -> None:
    deep = Answer("q", hits=page_hits("/b"), deeper=page_hits("/c", "/a", best=0.5))
    asked = query(id="q", relevant_urls=[f"{SITE}/a"], top_k=1)
    measurement = measure_retrieval([asked], [deep], settings(top_k=1, ranks=(3,)))
    got = values(measurement)
    assert got["mrr"][0] == 0.0
    assert got["recall_at_3"][0] == 1.0
    assert got["map"][0] == pytest.approx(1 / 3)


def test_precision_metrics_show_pages_with_their_stored_address() -> None:
    hits = page_hits("/a/", "/b.html", "/c")
    measurement = measure(
        [(query("How?", id="q", relevant_urls=[f"{SITE}/a", f"{SITE}/d"], acceptable_urls=["nowhere"]), hits)],
        ranks=(2, 3),
    )
    assert [metric.model_dump() for metric in measurement.sections["precision_metrics"]] == [
        {
            "query": "How?",
            "query_id": "q",
            "k": 2,
            "precision": 0.5,
            "retrieved_urls": [f"{SITE}/a/", f"{SITE}/b.html"],
            "relevant_retrieved": [f"{SITE}/a/"],
            "relevant_count": 1,
            "ceiling": 1.0,
        },
        {
            "query": "How?",
            "query_id": "q",
            "k": 3,
            "precision": 1 / 3,
            "retrieved_urls": [f"{SITE}/a/", f"{SITE}/b.html", f"{SITE}/c"],
            "relevant_retrieved": [f"{SITE}/a/"],
            "relevant_count": 1,
            "ceiling": 1.0,
        },
    ]


def test_metrics_are_shown_by_category() -> None:
    measurement = measure(
        [
            (query(id="q1", relevant_urls=[f"{SITE}/a"], category="ROS 2"), A),
            (query(id="q2", relevant_urls=[f"{SITE}/a"], category="VLA"), B),
        ]
    )
    groups = measurement.sections["retrieval_metrics"]["by_category"]
    assert {name: group["mrr"]["value"] for name, group in groups.items()} == {"ROS 2": 1.0, "VLA": 0.0}


def test_results_are_in_file_order_with_the_query_as_given() -> None:
    measurement = measure([(query(id="z", expected_module="m"), A), (query(id="a"), B)])
    results = measurement.sections["query_results"]
    assert [entry.query_id for entry in results] == ["z", "a"]
    assert results[0].query == {"id": "z", "query_text": "How?", "expected_module": "m"}


FAILURE = SystemFailure("http://x refused", code="index.unreachable", system="Qdrant", subject="http://x", attempts=3)


def test_when_a_system_fails_answers_are_kept_and_no_criterion_is_measured() -> None:
    asked = [query(id=name, relevant_urls=[f"{SITE}/a"]) for name in ("q1", "q2")]
    answers = [answer("q1", *A), Answer("q2", error=str(FAILURE))]
    measurement = measure_retrieval(asked, answers, settings(), failure=FAILURE)
    assert measurement.values == ()
    assert measurement.failure is not None
    assert measurement.failure.kind == "unreachable"
    assert [finding.code for finding in measurement.findings] == ["index.unreachable"]
    assert [entry.status for entry in measurement.sections["query_results"]] == ["success", "error"]
    assert set(measurement.sections["qrels"]) == set(measurement.sections["run"]) == {"q1"}
    assert measurement.sections["retrieval_metrics"]["page"]["mrr"]["n"] == 1


def test_when_nothing_could_be_asked_every_query_says_why() -> None:
    asked = [query(id="q1"), query(id="q2", negative=True)]
    measurement = measure_retrieval(asked, [], settings(), failure=FAILURE)
    assert {entry.fail_reason for entry in measurement.sections["query_results"]} == {str(FAILURE)}
    assert measurement.sections["queries_above_threshold"] is None


def test_questions_ask_for_pages_only_where_there_is_ground_truth() -> None:
    asked = [
        query(id="plain"),
        query(id="own k", top_k=20),
        query(id="truth", relevant_urls=["a"]),
        query(id="no truth", judgements={"a": 0}),
        query(id="negative", negative=True),
    ]
    questions = questions_of(asked, settings(ranks=(3, 10), top_k=5))
    assert [(entry.query_id, entry.top_k, entry.pages) for entry in questions] == [
        ("plain", 5, 0), ("own k", 20, 0), ("truth", 5, 10), ("no truth", 5, 0), ("negative", 5, 0),
    ]  # fmt: skip


def test_without_ranks_rankings_are_as_deep_as_top_k() -> None:
    assert settings(ranks=()).depth == 5
    measurement = measure([(query(id="q", relevant_urls=[f"{SITE}/a"]), A)], ranks=())
    assert values(measurement)["mrr"][0] == 1.0


@pytest.mark.parametrize(("page", "told"), [("/a", "pass_reason"), ("/b", "fail_reason")])
def test_a_query_of_which_only_the_beginning_was_read_says_so_in_its_result(page: str, told: str) -> None:
    asked = [query(id=name, relevant_urls=[f"{SITE}/a"]) for name in ("long", "short")]
    cut = {"long": "the query has at least 600 tokens, of which m reads the first 512"}
    answers = [answer(entry.id, *page_hits(page)) for entry in asked]
    long, short = measure_retrieval(asked, answers, settings(), notes=cut).sections["query_results"]
    assert getattr(long, told) == f"{getattr(short, told)}; {cut['long']}"
