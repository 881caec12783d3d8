from __future__ import annotations

import pytest

from ragval_pipeline.validation.query_report import HeldTo
from ragval_pipeline.validation.regression.pairing import changes_of
from ragval_pipeline.validation.retrieval.judge import held_to as held_by
from tests.validation import factory
from tests.validation.regression.runs import held_to, query

BY_MODULE = held_to(None, conditions=["module"], module_match="normalised")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (held_to(0.70), held_to(0.70), []),
        (held_to(0.70), held_to(0.75), ["threshold changed from 0.70 to 0.75"]),
        (held_to(0.70), held_to(0.625), ["threshold changed from 0.70 to 0.625"]),
        (BY_MODULE, BY_MODULE.model_copy(update={"top_k": 3}), ["top_k changed from 5 to 3"]),
        (held_to(top_k=5), held_to(top_k=3), []),
        (
            BY_MODULE,
            held_to(0.7, conditions=["score", "module"], module_match="normalised"),
            ["conditions changed from module to score, module"],
        ),
        (
            BY_MODULE,
            BY_MODULE.model_copy(update={"module_match": "exact"}),
            ["module_match changed from normalised to exact"],
        ),
    ],
)
def test_a_setting_of_the_suite_that_decides_is_a_change(before: HeldTo, after: HeldTo, told: list[str]) -> None:
    assert changes_of(query("a", held_to=before), query("a", held_to=after)) == told


def test_a_threshold_that_moved_from_the_suite_into_the_query_is_no_change() -> None:
    assert changes_of(query("a", held_to=held_to(0.7)), query("a", held_to=held_to(0.7), min_similarity=0.7)) == []


def test_an_expectation_that_does_not_decide_is_no_change() -> None:
    before, after = query("a", held_to=held_to(), expected_module="One"), query("a", held_to=held_to())
    assert changes_of(before, after) == []


def test_an_expectation_that_decides_is_a_change() -> None:
    before = query("a", held_to=BY_MODULE, expected_module="One")
    assert changes_of(before, query("a", held_to=BY_MODULE, expected_module="Two")) == [
        "expected_module changed from One to Two"
    ]


def test_long_expectations_are_not_repeated() -> None:
    by_url = held_to(None, conditions=["url"])
    before = query("a", held_to=by_url, relevant_urls=["https://docs.example.com/a"])
    assert changes_of(before, query("a", held_to=by_url, relevant_urls=[])) == ["relevant_urls changed"]


def test_grades_of_a_qrels_file_that_changed_hold_a_query_to_something_else() -> None:
    def judged(**judgements: int) -> HeldTo:
        return held_by(factory.query(judgements=judgements), factory.rules(), judge=None, top_k=5)

    before = query("a", held_to=judged(d1=2, d2=1))
    assert changes_of(before, query("a", held_to=judged(d2=1, d1=2))) == []
    assert changes_of(before, query("a", held_to=judged(d1=2, d2=0))) == ["judgements changed"]
    assert changes_of(before, query("a", held_to=judged()))[-1] == "judgements changed"


def test_a_report_of_an_earlier_version_tells_what_its_queries_stated() -> None:
    before = query("a", min_similarity=0.4)
    assert changes_of(before, query("a", held_to=held_to(0.4), min_similarity=0.4)) == []
    assert changes_of(before, query("a", held_to=held_to(0.9), min_similarity=0.9)) == [
        "threshold changed from 0.40 to 0.90"
    ]
