from __future__ import annotations

from ragval_pipeline.validation.regression.pairing import changes_of, pair_queries
from tests.validation.regression.runs import held_to, query


def test_queries_are_paired_by_id_and_question() -> None:
    pairing = pair_queries([query("a"), query("b")], [query("b"), query("a")])
    assert [(old.query_id, new.query_id) for old, new in pairing.same] == [("a", "a"), ("b", "b")]
    assert [*pairing.vanished, *pairing.added, *pairing.reworded, *pairing.restated] == []


def test_ids_by_position_that_moved_are_found_by_their_question() -> None:
    before = [query("q1", text="One?"), query("q2", text="Two?")]
    after = [query("q1", text="New?"), query("q2", text="one? "), query("q3", text="Two?")]
    pairing = pair_queries(before, after)
    assert {(old.query_id, new.query_id) for old, new in pairing.same} == {("q1", "q2"), ("q2", "q3")}
    assert [entry.query_id for entry in pairing.added] == ["q1"]


def test_the_same_question_under_two_ids_keeps_each_with_its_own() -> None:
    both = [query("a", text="Same?", top_k=1), query("b", text="Same?", top_k=5)]
    pairing = pair_queries(both, list(reversed(both)))
    assert [(old.query_id, new.query_id) for old, new in pairing.same] == [("a", "a"), ("b", "b")]


def test_a_query_with_another_question_is_reworded_and_not_compared() -> None:
    pairing = pair_queries([query("a", text="Old?")], [query("a", text="New?")])
    assert [new.query_id for _, new in pairing.reworded] == ["a"]
    assert not pairing.same


def test_a_query_that_is_held_to_something_else_is_restated() -> None:
    pairing = pair_queries([query("a", min_similarity=0.4)], [query("a", min_similarity=0.9)])
    assert [new.query_id for _, new in pairing.restated] == ["a"]
    assert not pairing.same


def test_a_draft_had_no_conditions_before_it_counted() -> None:
    draft, counted = query("a", held_to=held_to(conditions=[])), query("a", held_to=held_to(conditions=["url"]))
    assert changes_of(draft, counted) == ["conditions changed from none to url"]


def test_a_description_changes_nothing() -> None:
    assert len(pair_queries([query("a")], [query("a", description="why")]).same) == 1


def test_what_is_gone_has_vanished() -> None:
    pairing = pair_queries([query("a"), query("b")], [query("b"), query("c")])
    assert [entry.query_id for entry in pairing.vanished] == ["a"]
    assert [entry.query_id for entry in pairing.added] == ["c"]
