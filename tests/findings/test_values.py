"""What is a value follows from what makes the value wrong: criteria that fell, and scores."""

from __future__ import annotations

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.validation.regression.compare import INDEX_CRITERIA
from tests.findings.linking import finding, follows, linked, page, point, query


def fall(name: str) -> Finding:
    return finding("regression.significant_drop", Subject(name=name), scope=name)


def test_every_criterion_of_the_index_that_may_fall_is_lowered_by_some_finding():
    assert {name for row in CATALOGUE.values() for name in row.lowers} >= set(INDEX_CRITERIA)


@pytest.mark.parametrize(
    ("name", "cause", "follows_from_it"),
    [
        ("coverage", finding("coverage.missing_page", page("/a")), True),
        ("coverage", finding("chunk.index_gap", page("/a")), False),
        ("metadata_completeness", finding("payload.missing_field", point("1")), True),
        ("metadata_completeness", finding("coverage.foreign_host", page("/a")), False),
        ("embedding_match", finding("vector.zero", point("1")), True),
        ("content_integrity", finding("vector.zero", point("1")), False),
        ("ndcg_at_5", finding("coverage.missing_page", page("/a")), False),
    ],
)
def test_a_criterion_that_fell_follows_from_what_lowers_it(name: str, cause: Finding, follows_from_it: bool):
    assert follows(fall(name), cause) == (cause.code if follows_from_it else None)


def test_a_ranking_of_pages_fell_by_what_spoils_as_much_of_the_index_and_by_no_less():
    fallen = finding("regression.significant_drop", Subject(name="self_retrieval", fell=0.05), scope="self_retrieval")
    points, pages = [point(str(number)) for number in range(5)], [page(f"/{number}") for number in range(5)]
    for code, subjects in (
        ("integrity.gone", points),
        ("vector.swapped", points),
        ("integrity.not_captured", pages),
        ("coverage.missing_page", pages),
        ("retrieval.dark_page", pages),
    ):
        assert follows(fallen, finding(code, *subjects)) == code
        assert follows(fallen, finding(code, *subjects[:4])) is None
    assert follows(fallen, finding("payload.duplicate_id", *points)) is None
    assert follows(fallen, finding("payload.missing_field", *points)) is None


def test_a_ranking_of_pages_fell_by_several_causes_together_the_largest_first():
    fallen = finding("regression.significant_drop", Subject(name="self_retrieval", fell=0.05), scope="self_retrieval")
    zero, swapped = (finding("vector.zero", point("1")), finding("vector.swapped", *map(point, "2345")))
    found = linked(fallen, zero, swapped)[0]
    assert found.because == "vector.swapped"
    assert found.remedy == "Goes away with vector.swapped and vector.zero."


def test_of_several_findings_that_lower_a_criterion_the_one_of_most_subjects_is_named():
    zero, swapped = (finding("vector.zero", point("1")), finding("vector.swapped", *map(point, "2345")))
    assert follows(fall("embedding_match"), zero, swapped) == "vector.swapped"


def test_an_off_topic_question_scores_high_because_its_scores_are_impossible_and_not_because_they_are_out_of_order():
    high = finding("query.negative_scored_high", query("q", thresholds=(0.4,)))
    assert follows(high, finding("retrieval.invalid_order", query("q"))) == "retrieval.invalid_order"
    assert follows(high, finding("retrieval.invalid_order", query("other"))) is None
    in_range = query("q", without=frozenset({Aspect.REACH, Aspect.SELECTION}))
    assert follows(high, finding("retrieval.invalid_order", in_range)) is None


def test_a_number_is_given_twice_where_what_is_left_of_an_older_version_is_stored_twice():
    shared = finding("chunk.duplicate_index", point("1"), point("2"))
    assert follows(shared, finding("chunk.stale_tail", point("1"), point("2"))) == "chunk.stale_tail"
    assert follows(shared, finding("chunk.stale_tail", point("1"))) is None


def test_a_search_misses_hits_because_its_answers_change():
    missing, changing = finding("index.low_ann_recall", "docs"), finding("retrieval.nondeterministic", query("q"))
    assert follows(missing, changing) == "retrieval.nondeterministic"
    assert follows(changing, missing) is None


def test_a_setting_of_every_search_accounts_for_whatever_searches_lost() -> None:
    fallen = finding("regression.significant_drop", Subject(name="self_retrieval", fell=0.05), scope="self_retrieval")
    assert follows(fallen, finding("embedder.input_type", "embedding.query_input_type")) == "embedder.input_type"
    assert follows(fallen, finding("query.threshold_unfit", "0.7")) is None
