from __future__ import annotations

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.html.plots import score_lanes, scores_picture, thresholds_of
from ragval_pipeline.reporting.html.questions import excerpt, query_rows
from ragval_pipeline.reporting.questions import ordered, score_note
from ragval_pipeline.validation.query_report import HeldTo
from tests.reporting import factory
from tests.reporting.factory import report_html


def rows_of(bundle):
    return query_rows(ordered(bundle.report.query_results), bundle)


def seed_like(threshold=0.70):
    """A healthy index under a Cohere model: right pages first, best scores of 0.55 to 0.73, the seeds' threshold."""
    scores = [0.55, 0.58, 0.61, 0.63, 0.66, 0.68, 0.69, 0.71, 0.72, 0.73]
    queries = [
        factory.query(f"q{n}", "Q?", score, passed=score >= threshold, given={"min_similarity": threshold})
        for n, score in enumerate(scores)
    ]
    return queries, {f"q{n}": {factory.PAGES[1]: 2} for n in range(len(scores))}


def note(queries, judgements, findings=()):
    run = factory.report("fail", query_results=queries, findings=list(findings))
    bundle = factory.bundle(run, findings, judgements=judgements)
    return score_note(bundle), report_html(bundle).decode()


def test_queries_that_found_what_they_want_and_miss_only_the_score_are_explained_at_the_top():
    text, page = note(*seed_like())
    assert "7 queries found the expected result and missed only the score threshold: best scores 0.55 to 0.69." in text
    assert "ragval calibrate" in text
    assert page.index("About the scores.") < page.index('id="criteria"')


def test_a_threshold_that_does_not_fit_the_model_is_explained_as_its_finding_does():
    told = "The threshold 0.7 would reject 70 % of 10 answers on the right page."
    unfit = make_finding("query.threshold_unfit", [Subject(name="0.7")], message=told)
    text, _ = note(*seed_like(), findings=[unfit])
    assert text.startswith(told)
    assert "ragval calibrate" in text


def test_queries_that_found_the_wrong_pages_get_no_excuse():
    queries, _ = seed_like()
    assert note(queries, {})[0] is None
    passed, judgements = seed_like(threshold=0.5)
    assert note(passed, judgements)[0] is None


def test_scores_are_shown_apart_for_positive_and_negative_queries():
    rows = rows_of(factory.bundle())
    assert [(lane.name, lane.passed) for lane in score_lanes(rows)] == [
        ("questions", [0.62]), ("off-topic questions", [0.11]),
    ]  # fmt: skip
    assert thresholds_of(rows) == [0.45]
    told = "Best scores: 1 question 0.62; 1 off-topic question 0.11; threshold 0.45"
    assert told in str(scores_picture(rows))


def test_many_different_thresholds_are_not_drawn():
    queries = [factory.query(f"q{n}", "Q?", 0.5, given={"min_similarity": 0.1 * n}) for n in range(5)]
    assert thresholds_of(rows_of(factory.bundle(factory.report(query_results=queries)))) == []


def test_a_kept_run_that_is_rendered_again_shows_the_thresholds_it_was_judged_by():
    held = HeldTo(top_k=5, conditions=["score"], min_similarity=0.7, module_match=None)
    run = factory.report(query_results=[factory.query("q1", "Q?", 0.6, held_to=held)])
    later = factory.bundle(run, settings={"retrieval": {"min_similarity": 0.4}})
    assert thresholds_of(rows_of(later)) == [0.7]


@pytest.mark.parametrize(
    ("given", "grades", "place"),
    [
        ({"expected_module": "Module 1 Ros2"}, {}, 1),
        ({"expected_module": "Module 1 Ros2"}, {factory.PAGES[2]: 2}, 2),
        ({"expected_module": "Module 1 Ros2"}, {factory.PAGES[9]: 2}, 49),
        ({"expected_module": "Module 1 Ros2", "expected_chapter": "capstone"}, {}, 49),
    ],
    ids=["its module", "its page among the hits", "its page beyond them", "its chapter beyond them"],
)
def test_the_right_page_is_where_the_query_says_whatever_else_of_a_hit_is_as_expected(given, grades, place):
    asked = factory.query("q", "How?", 0.5, passed=False, given=given)
    located = {"query_diagnosis.json": {"q": {"rank": 49, "score": 0.115, "searched": 91}}}
    judgements = {"q": {factory.inventory().folder().key(url): grade for url, grade in grades.items()}}
    bundle = factory.bundle(factory.report(query_results=[asked]), judgements=judgements, extras=located)
    [row] = rows_of(bundle)
    assert row.place == place
    assert f"at place {place} with" in row.where


def shown(text, words, length=300):
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in excerpt(text, words, length))


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("A Node and a node.", ["node"], "A [Node] and a [node]."),
        ("nodes are no node", ["node"], "nodes are no [node]"),
        ("Ein Café, eine Straße", ["cafe", "strasse"], "Ein [Café], eine [Straße]"),
        ("C++ and C", ["c++"], "[C++] and C"),
        ("two  words\nhere", ["two words"], "[two words] here"),
        ("a quality of service profile", ["quality", "quality of service"], "a [quality of service] profile"),
        ("nothing here", ["absent", ""], "nothing here"),
        ("", ["x"], ""),
        ("ﬁle ＲＯＳ", ["file", "ros"], "[ﬁle] [ＲＯＳ]"),
    ],
)
def test_words_are_marked_as_queries_are_judged(text, words, expected):
    assert shown(text, words) == expected


def test_a_word_far_down_is_brought_into_sight():
    found = shown("filler " * 100 + "the balance controller keeps it upright " + "more " * 50, ["balance"], 120)
    assert found.startswith("…filler")
    assert "[balance] controller" in found
    assert found.endswith("…")


def test_an_excerpt_is_about_as_long_as_asked():
    pieces = excerpt("word " * 500, ["absent"], 100)
    assert sum(len(piece.text) for piece in pieces) <= 100
