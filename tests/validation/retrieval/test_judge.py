from __future__ import annotations

import math
from typing import Any

import pytest

from ragval_pipeline.findings.factory import PASSAGE
from ragval_pipeline.rules.query.failed import with_found, without_found
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.retrieval.judge import deciding_conditions, judge_query
from tests.validation.factory import SITE, answer, hit, page_hits, query, rules

GOOD = hit(
    score=0.85, point_id="d41d8cd9-8f00-b204-e980-0998ecf8427e", chunk_text="ROS 2 is a middleware for robots.",
    source_url=f"{SITE}/docs/m1/ch1", module_name="Module 1 Ros2", chapter_id="m1/ch1-ros2-basics", chunk_index=3,
)  # fmt: skip


def judged(
    hits: tuple[Hit, ...] = (GOOD,), *, judge: tuple[str, ...] | None = None, setting: dict[str, Any] | None = None,
    **stated: Any,
) -> QueryReport:  # fmt: skip
    asked = query(**stated)
    return judge_query(asked, answer(asked.id, *hits), rules(**(setting or {})), judge=judge, top_k=5)


def test_the_seeds_own_example_passes_with_its_reason() -> None:
    report = judged(expected_module="Module 1 Ros2", expected_chapter="ch1-ros2-basics", min_similarity=0.70)
    assert (report.status, report.passed, report.best_similarity) == ("success", True, 0.85)
    assert (report.module_match, report.chapter_match, report.returned_k) == (True, True, 1)
    assert report.pass_reason == "Found relevant chunk (similarity=0.85) in expected module 'Module 1 Ros2'"
    assert (report.fail_reason, report.failed_conditions) == (None, [])
    assert report.query["query_text"] == "How?"


@pytest.mark.parametrize(
    ("stated", "failed"),
    [
        ({"min_similarity": 0.85}, []),
        ({"min_similarity": 0.8500009}, []),
        ({"min_similarity": 0.850002}, ["score"]),
        ({"expected_module": "module-1-ros2"}, []),
        ({"expected_module": "Module 10"}, ["module"]),
        ({"expected_chapter": "ch1-ros2-basics"}, []),
        ({"expected_chapter": "ch1"}, ["chapter"]),
        ({"relevant_urls": [f"{SITE}/docs/m1/ch1/"]}, []),
        ({"relevant_urls": [f"{SITE}/docs/m2"], "acceptable_urls": ["http://docs.example.com/docs/m1/ch1.html"]}, []),
        ({"relevant_urls": [f"{SITE}/docs/m2"]}, ["url"]),
        ({"expected_keywords": ["nothing", "Middleware"]}, []),
        ({"expected_keywords": ["middle"]}, ["keywords"]),
        ({"expected_results": [{"id": "D41D8CD98F00B204E9800998ECF8427E"}]}, []),
        ({"expected_results": [{"id": "7"}]}, ["results"]),
        ({"expected_results": [{"source_url": f"{SITE}/docs/m1/ch1/#x", "chunk_index": 3}]}, []),
        ({"expected_results": [{"source_url": f"{SITE}/docs/m1/ch1", "chunk_index": 4}]}, ["results"]),
        ({"expected_results": [{"text": "ros 2  is a MIDDLEWARE"}]}, []),
        ({"expected_results": [{"text": "is a robot"}]}, ["results"]),
        ({"expected_results": [{"module": "Module 1 Ros2", "chapter": "m1/ch1-ros2-basics"}]}, []),
        ({"expected_results": [{"module": "Module 1"}]}, ["results"]),
        ({"expected_results": [{"id": "d41d8cd98f00b204e9800998ecf8427e"}, {"id": "7"}]}, ["results"]),
        ({"expected_module": "Module 9", "expected_keywords": ["no"]}, ["module", "keywords"]),
    ],
)  # fmt: skip
def test_a_query_passes_when_all_that_it_states_holds(stated: dict[str, Any], failed: list[str]) -> None:
    report = judged(**stated)
    assert report.failed_conditions == failed
    assert report.passed is (not failed)
    assert (report.fail_reason is None) is (not failed)


def test_an_expected_result_must_be_one_and_the_same_hit() -> None:
    hits = (hit(1, source_url=f"{SITE}/a", chunk_index=0), hit(2, source_url=f"{SITE}/b", chunk_index=1))
    missed = judged(hits, expected_results=[{"source_url": f"{SITE}/a", "chunk_index": 1}, {"chunk_index": 0}])
    assert missed.passed is False
    assert (missed.fail_reason or "").endswith(
        f"1 of 2 expected results are not among the hits: source_url '{SITE}/a', chunk_index 1"
    )
    assert judged(hits, expected_results=[{"source_url": f"{SITE}/b", "chunk_index": 1}]).passed is True


def test_a_condition_may_hold_in_any_hit() -> None:
    hits = (hit(1, 0.9, module_name="Module 2"), hit(2, 0.8, module_name="Module 1"))
    assert judged(hits, expected_module="Module 1").passed is True
    assert judged(hits, expected_module="Module 3").fail_reason == (
        "no hit is in module 'Module 3' (found: Module 2, Module 1)"
    )


def test_the_reason_of_a_pass_gives_the_expected_module_its_own_score() -> None:
    hits = (hit(1, 0.66, module_name="Module 2"), hit(2, 0.58, module_name="Module 1"))
    assert judged(hits, expected_module="Module 1").pass_reason == (
        "Found relevant chunk (similarity=0.66); expected module 'Module 1' at rank 2 (similarity=0.58)"
    )


def test_where_results_must_reach_the_threshold_keywords_below_it_do_not_count() -> None:
    hits = (hit(1, 0.8, chunk_text="Sensors."), hit(2, 0.6, chunk_text="A gripper holds."))
    stated = {"expected_keywords": ["gripper"], "judge": ("keywords", "score"), "min_similarity": 0.7}
    assert judged(hits, **stated).passed is True
    report = judged(hits, setting={"results_reach_threshold": True}, **stated)
    assert (report.failed_conditions, report.fail_reason) == (
        ["keywords"], "no hit that reaches 0.7 holds any of gripper",
    )  # fmt: skip


def test_pages_that_were_found_instead_are_shown_as_they_are_stored() -> None:
    stored = "HTTP://www.docs.example.com/docs/B/index.html?utm_source=x"
    report = judged(page_hits(stored), relevant_urls=[f"{SITE}/docs/m2"])
    assert report.fail_reason == f"the returned chunk is not on a relevant page (found: {stored})"


def test_a_very_long_name_does_not_fill_the_reason() -> None:
    report = judged((hit(1, 0.9, module_name="m" * 100_000),), expected_module="Module 1")
    assert PASSAGE < len(report.fail_reason or "") < PASSAGE + 100


def test_a_query_that_states_nothing_is_judged_by_the_suites_threshold() -> None:
    assert judged().passed is True
    assert judged(setting={"min_similarity": 0.9}).fail_reason == "best similarity 0.8500 is below 0.9"


def test_a_zero_threshold_of_a_query_is_its_own_and_not_the_suites() -> None:
    assert judged((hit(score=0.1),), min_similarity=0.0).passed is True


@pytest.mark.parametrize(
    ("judge", "stated", "decide"),
    [
        (None, {}, ["score"]),
        (None, {"expected_module": "m"}, ["module"]),
        (None, {"expected_module": "m", "min_similarity": 0.5}, ["score", "module"]),
        (None, {"relevant_urls": ["a"], "expected_keywords": ["k"]}, ["url", "keywords"]),
        (("module", "score"), {"expected_module": "m"}, ["score", "module"]),
        (("score", "module"), {"relevant_urls": ["a"]}, ["score"]),
        (("url", "score"), {"relevant_urls": ["a"], "expected_module": "m"}, ["score", "url"]),
        (("keywords", "score"), {"expected_keywords": ["k"]}, ["score", "keywords"]),
        (("results",), {"expected_module": "m"}, ["score"]),
        (("score",), {"expected_results": [{"id": "1"}]}, ["score"]),
    ],
)
def test_a_profile_chooses_among_what_a_query_states(
    judge: tuple[str, ...] | None, stated: dict[str, Any], decide: list[str]
) -> None:
    assert deciding_conditions(query(**stated), judge) == decide


def test_unjudged_queries_are_still_reported() -> None:
    report = judged(judge=("score",), expected_module="Module 9", expected_chapter="ch1-ros2-basics")
    assert report.passed is True
    assert (report.module_match, report.chapter_match) == (False, True)
    assert report.pass_reason == "Found relevant chunk (similarity=0.85)"


def test_matches_are_null_when_nothing_is_expected() -> None:
    report = judged()
    assert (report.module_match, report.chapter_match) == (None, None)


def test_nothing_returned_fails_a_positive_query() -> None:
    report = judged((), expected_module="Module 1")
    assert (report.status, report.passed, report.best_similarity) == ("no_matches", False, None)
    assert report.failed_conditions == ["nothing returned"]
    assert report.fail_reason == "nothing was returned"
    assert report.module_match is False


@pytest.mark.parametrize(
    ("hits", "passed"),
    [((), True), ((hit(score=0.2),), True), ((hit(score=0.4),), False), ((hit(score=0.3999995),), False)],
)
def test_a_negative_query_passes_below_its_threshold_or_without_hits(hits: tuple[Hit, ...], passed: bool) -> None:
    report = judged(hits, negative=True, min_similarity=0.4)
    assert report.passed is passed
    assert report.failed_conditions == ([] if passed else ["score"])
    assert report.status == ("success" if hits else "no_matches")


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("stated", [{"expected_module": "Module 1 Ros2"}, {"negative": True, "min_similarity": 0.4}])
def test_no_query_passes_on_scores_that_are_no_numbers(score: float, stated: dict[str, Any]) -> None:
    report = judged((hit(score=score, module_name="Module 1 Ros2"), hit(score=0.2)), **stated)
    assert report.passed is False
    assert report.failed_conditions == ["score"]
    assert report.fail_reason == "1 hit of 2 without a score that is a number"


def test_a_negative_query_uses_the_suites_threshold_and_no_profiles_conditions() -> None:
    assert judged(negative=True, judge=("url",)).passed is False
    assert judged(negative=True, setting={"min_similarity": 0.9}).passed is True


def test_a_search_that_failed_is_neither_passed_nor_failed() -> None:
    asked = query(expected_module="Module 1")
    report = judge_query(asked, answer(asked.id, error="Qdrant: gone"), rules(), judge=None, top_k=5)
    assert (report.status, report.passed, report.fail_reason) == ("error", None, "Qdrant: gone")
    assert report.module_match is None
    assert report.failed_conditions == []


@pytest.mark.parametrize(
    ("distance", "threshold", "passed"), [(0.3, 0.5, True), (0.5, 0.5, True), (0.5000005, 0.5, True), (0.6, 0.5, False)]
)
def test_of_distances_the_smaller_is_the_better(distance: float, threshold: float, passed: bool) -> None:
    hits = (hit(1, distance), hit(2, distance + 1))
    report = judged(hits, setting={"higher_is_better": False}, min_similarity=threshold)
    assert (report.best_similarity, report.passed) == (distance, passed)
    if not passed:
        assert report.fail_reason == "best distance 0.6000 is above 0.5"
    negative = judged(hits, setting={"higher_is_better": False}, min_similarity=threshold, negative=True)
    assert negative.passed is (not passed)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_not_the_best(score: float) -> None:
    assert judged((hit(1, score), hit(2, 0.8))).best_similarity == 0.8
    report = judged((hit(1, score),))
    assert (report.best_similarity, report.passed) == (None, False)
    assert judged((hit(1, score, source_url=f"{SITE}/a"),), relevant_urls=[f"{SITE}/a"]).passed is False


def test_the_best_score_is_the_best_in_whatever_order_hits_come() -> None:
    assert judged((hit(1, 0.2), hit(2, 0.9))).best_similarity == 0.9


def test_what_the_hits_have_instead_is_left_out_of_every_clause_of_a_reason() -> None:
    told = "; ".join(
        with_found(reason, found)
        for reason, found in (("no hit is in module 'A'", "'Intro (part 1)', 'B'"), ("no hit is in chapter 'C'", "-"))
    )
    assert without_found(told) == "no hit is in module 'A'; no hit is in chapter 'C'"
