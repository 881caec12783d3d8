"""Two ways to search beside each other: who answers which question, and when keyword search is reported."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.retrieval.modes import Modes, comparable
from tests.validation.factory import SITE, answer, page_hits, query, settings

RIGHT, WRONG, LATER = page_hits("/a"), page_hits("/b"), page_hits("/b", "/a")


def asked(count: int) -> list[TestQuery]:
    return [query(id=f"q{number}", query_text=f"q{number}", relevant_urls=[f"{SITE}/a"]) for number in range(count)]


def modes(judged: Sequence[bool], other: Sequence[bool]) -> Modes:
    """Both ways of asking questions, by whether each answers them."""
    queries = asked(len(judged))
    one, two = (
        {entry.id: answer(entry.id, *(RIGHT if right else WRONG)) for entry, right in zip(queries, way, strict=True)}
        for way in (judged, other)
    )
    return Modes("bm25", queries, one, two, settings())


def test_questions_are_compared_if_they_state_more_than_a_score() -> None:
    kinds = [
        *asked(1),
        query(id="score", query_text="score", min_similarity=0.5),
        query(id="negative", query_text="negative", negative=True),
        query(id="draft", query_text="draft", relevant_urls=[f"{SITE}/a"], status="draft"),
    ]
    assert [entry.id for entry in comparable(kinds, settings())] == ["q0"]
    assert [entry.id for entry in comparable(kinds, settings(judge=("score",)))] == []


@pytest.mark.parametrize(
    ("judged", "other", "named"),
    [
        ([False] * 3 + [True] * 5, [True] * 8, 3),
        ([False] * 2 + [True] * 6, [True] * 8, 0),
        ([False] * 3 + [True] * 9, [True] * 3 + [False] * 9, 3),
        ([True] * 8, [False] * 8, 0),
    ],
)
def test_three_questions_that_only_words_answer_are_reported(judged: list[bool], other: list[bool], named: int) -> None:
    findings = find_all(modes(judged, other))
    assert [len(finding.subjects) for finding in findings] == ([named] if named else [])
    if named:
        [finding] = findings
        assert (finding.code, finding.severity) == ("retrieval.lexical_better", "warning")
        assert [subject.name for subject in finding.subjects] == ["q0", "q1", "q2"]
        assert finding.details["lost"] == sum(one and not two for one, two in zip(judged, other, strict=True))


def test_the_ranks_of_both_ways_are_given_also_beyond_the_hits_that_decide() -> None:
    queries = asked(3)
    judged = {entry.id: answer(entry.id, *WRONG) for entry in queries}
    judged["q1"] = Answer("q1", hits=WRONG, deeper=LATER[1:])
    other = {entry.id: answer(entry.id, *RIGHT) for entry in queries}
    [finding] = find_all(Modes("bm25", queries, judged, other, settings()))
    ranks = {each.name: (each.details["rank"], each.details["rank_by_words"]) for each in finding.subjects}
    assert ranks == {"q0": (None, 1), "q1": (2, 1), "q2": (None, 1)}


def test_the_values_say_how_much_more_the_other_way_answers_and_by_which_chance() -> None:
    value = modes([False] * 6 + [True] * 4, [True] * 10).values()["answered"]
    assert (value.value, value.n, value.difference) == (1.0, 10, pytest.approx(0.6))
    assert value.p == pytest.approx(0.5**6)
    assert value.interval is not None
    assert 0 < value.interval[0] < 0.6 < value.interval[1] <= 1
    hits = modes([False, True], [True, True]).values()["hit_at_3"]
    assert (hits.value, hits.difference, hits.p) == (1.0, 0.5, None)


def test_a_question_that_one_way_could_not_be_asked_is_not_compared() -> None:
    both = modes([True, True], [True, True])
    refused = {**both.judged, "q0": Answer("q0", error="too long")}
    assert [entry.id for entry in Modes("bm25", both.queries, refused, both.other, both.settings).compared] == ["q1"]
    assert Modes("bm25", both.queries, {}, both.other, both.settings).values() == {}
    assert math.isclose(both.p, 1.0)
