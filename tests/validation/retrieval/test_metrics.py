from __future__ import annotations

import io

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragval_pipeline.reporting.files.tables import qrels_trec, run_trec
from ragval_pipeline.validation.retrieval.hits import (
    has_ground_truth,
    page_qrels,
    page_ranking,
    page_run,
)
from ragval_pipeline.validation.retrieval.metrics import by_category, ceilings, means, metric_names, per_query
from tests.validation.factory import SITE, answer, hit, page_hits, query, rules, site

RANKS = (1, 3, 5, 10)
DEPTH = 5
DOCUMENTS = [f"https://docs.example.com/{name}" for name in "abcdefghijkl"] + ["opaque id", "ünïcode", "a%20b"]
QUERY_IDS = st.sampled_from(["q1", "What is ROS 2?", "t[module=a b]", "über", "10"])
QRELS = st.dictionaries(
    QUERY_IDS,
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1, max_size=6).filter(
        lambda grades: any(grade > 0 for grade in grades.values())
    ),
    min_size=1,
    max_size=5,
)
RUN = st.dictionaries(QUERY_IDS, st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=12), max_size=5)


@settings(max_examples=60)
@given(run=RUN, qrels=QRELS)
def test_every_figure_equals_ir_measures_on_the_written_files(
    run: dict[str, list[str]], qrels: dict[str, dict[str, int]]
) -> None:
    values = per_query(run, qrels, ranks=RANKS, depth=DEPTH)
    found = means(values, ceilings(qrels, ranks=RANKS, depth=10))
    written = qrels_trec(qrels)
    assert written is not None
    truth = list(ir_measures.read_trec_qrels(io.StringIO(written.decode())))
    ranking = list(ir_measures.read_trec_run(io.StringIO(run_trec(run).decode())))
    names = metric_names(RANKS, depth=DEPTH)
    measures = {ir_measures.parse_measure(text): name for name, text in names.items()}
    for measure, value in ir_measures.calc_aggregate(list(measures), truth, ranking).items():
        assert found[measures[measure]].value == pytest.approx(value, abs=1e-9)
        assert found[measures[measure]].n == len(qrels)
    for name, metric in found.items():
        assert metric.value is not None
        assert metric.ceiling is not None
        assert metric.value <= metric.ceiling + 1e-9, name


@settings(max_examples=60)
@given(grades=st.lists(st.integers(0, 2), min_size=1, max_size=12), relevant=st.integers(1, 12))
def test_the_usual_formulas_hold(grades: list[int], relevant: int) -> None:
    ranking = [f"d{number}" for number in range(len(grades))]
    qrels = {"q": {**dict(zip(ranking, grades, strict=True)), **{f"x{n}": 1 for n in range(relevant)}}}
    values = {name: by["q"] for name, by in per_query({"q": ranking}, qrels, ranks=(3,), depth=4).items()}
    total = sum(grade > 0 for grade in qrels["q"].values())
    top = [grade > 0 for grade in grades[:3]]
    first = next((rank for rank, grade in enumerate(grades[:4], 1) if grade > 0), None)
    assert values["precision_at_3"] == pytest.approx(sum(top) / 3)
    assert values["recall_at_3"] == pytest.approx(sum(top) / total)
    assert values["hit_at_3"] == float(any(top))
    assert values["mrr"] == pytest.approx(1 / first if first else 0.0)


def test_a_query_without_hits_counts_as_zero_everywhere() -> None:
    values = per_query({"q1": ["a"], "q2": []}, {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}, ranks=(1,), depth=1)
    for name, by_query in values.items():
        assert set(by_query) == {"q1", "q2", "q3"}
        assert (by_query["q2"], by_query["q3"]) == (0.0, 0.0), name


def test_the_order_is_ours_however_documents_are_called() -> None:
    # trec_eval orders equal scores by document id, downwards: z would come first.
    values = per_query({"q": ["a", "z"]}, {"q": {"a": 1}}, ranks=(1,), depth=1)
    assert values["precision_at_1"]["q"] == 1.0


def test_gain_is_the_grade() -> None:
    values = per_query({"q": ["b", "a"]}, {"q": {"a": 2, "b": 1}}, ranks=(2,), depth=2)
    ideal, got = 2 + 1 / 1.584962500721156, 1 + 2 / 1.584962500721156
    assert values["ndcg_at_2"]["q"] == pytest.approx(got / ideal)


def test_no_ground_truth_has_no_figures() -> None:
    assert per_query({"q": ["a"]}, {}, ranks=(3,), depth=3) == {}
    assert means({}, {}) == {}


def test_the_ceiling_of_precision_is_what_the_ground_truth_allows() -> None:
    qrels = {"one": {"a": 1}, "two": {"a": 2, "b": 1, "c": 0}, "many": dict.fromkeys("abcdefgh", 1)}
    best = ceilings(qrels, ranks=(3, 5), depth=5)
    assert best["precision_at_3"] == {"one": 1 / 3, "two": 2 / 3, "many": 1.0}
    assert best["recall_at_5"] == {"one": 1.0, "two": 1.0, "many": 5 / 8}
    assert best["map"] == {"one": 1.0, "two": 1.0, "many": 5 / 8}


def test_categories_have_means_of_their_own() -> None:
    values = {"mrr": {"q1": 1.0, "q2": 0.5, "q3": 0.0}}
    found = by_category(values, {}, {"q1": "ROS 2", "q2": "ROS 2", "q3": None, "q4": "VLA"})
    assert {name: (group["mrr"].value, group["mrr"].n) for name, group in found.items()} == {"ROS 2": (0.75, 2)}


# Rankings.


def test_a_page_has_the_rank_of_its_best_chunk() -> None:
    hits = page_hits("/a", "/a/", "/b", "/a#x", "/c")
    assert page_ranking(answer("q", *hits), rules().read, depth=2) == [f"{SITE}/a", f"{SITE}/b"]


def test_deeper_hits_follow_and_hits_without_a_page_take_their_rank() -> None:
    found = answer("q", hit(1, point_id="x"), *page_hits("/a"), hit(3, point_id="y"), deeper=page_hits("/a", "/b"))
    ranking = page_ranking(found, rules().read, depth=5)
    assert ranking == ["no address: x", f"{SITE}/a", "no address: y", f"{SITE}/b"]
    assert page_ranking(found, rules().read, depth=3) == ranking[:3]


def test_grades_are_2_and_1_and_those_of_a_qrels_file_as_they_are() -> None:
    asked = [
        query(id="q", relevant_urls=["/a"], acceptable_urls=["/b"], judgements={"/c": 3, "/d": 0, "/e": -1}),
    ]
    read = rules().read
    assert page_qrels(asked, read) == {"q": {"/b": 1, "/a": 2, "/c": 3, "/d": 0, "/e": -1}}


def test_of_two_addresses_of_a_judged_page_the_higher_grade_counts() -> None:
    read = rules(inventory=site("/a")).read
    rising = query(id="q", acceptable_urls=[f"{SITE}/a/"], relevant_urls=[f"{SITE}/a"])
    falling = query(id="q", relevant_urls=[f"{SITE}/a"], judgements={f"{SITE}/a/": 1})
    assert page_qrels([rising], read) == page_qrels([falling], read) == {"q": {f"{SITE}/a": 2}}


@pytest.mark.parametrize(
    ("stated", "counts"),
    [
        ({"relevant_urls": ["a"]}, True),
        ({"acceptable_urls": ["a"]}, True),
        ({"judgements": {"a": 1, "b": 0}}, True),
        ({"judgements": {"a": 0, "b": -1}}, False),
        ({}, False),
        ({"negative": True}, False),
        ({"negative": True, "judgements": {"a": 1}}, False),
    ],
)
def test_only_positive_queries_with_a_relevant_page_count(stated: dict[str, object], counts: bool) -> None:
    asked = query(id="q", **stated)
    assert has_ground_truth(asked) is counts
    assert ("q" in page_qrels([asked], rules().read)) is counts
    assert ("q" in page_run([asked], {"q": answer("q")}, rules().read, depth=3)) is counts


def test_a_query_that_was_not_answered_has_an_empty_ranking() -> None:
    assert page_run([query(id="q", relevant_urls=["a"])], {}, rules().read, depth=3) == {"q": []}
