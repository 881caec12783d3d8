"""Scores by examples computed by hand."""

import numpy as np
import pytest

from indexdefects.addresses import folded
from indexdefects.advice import carry_out
from indexdefects.points import Point
from indexdefects.scoring import f1_of, subjects_of


def point(name, text, url="https://docs.example.com/a"):
    return Point(name, {"text": text, "url": url}, np.array([1.0, 0.0], dtype=np.float32), text)


def outcome(advice, points, right):
    return carry_out(advice, points, right, "text", "url")


def test_two_of_three_named_and_two_of_four_right_give_their_harmonic_mean():
    assert f1_of({"a", "b", "x"}, {"a", "b", "c", "d"}) == pytest.approx((2 / 3, 1 / 2, 4 / 7))


def test_the_original_of_a_copy_may_be_named_or_not():
    assert f1_of({"copy", "original"}, {"copy"}, {"original"})[2] == 1.0
    assert f1_of({"copy"}, {"copy"}, {"original"})[2] == 1.0
    assert f1_of({"original"}, {"copy"}, {"original"})[2] == 0.0


def test_points_stand_for_their_page_and_a_page_for_its_points():
    pages = {"1": "https://docs.example.com/a", "2": "https://docs.example.com/a/", "3": "https://docs.example.com/b"}
    assert subjects_of({"points": ["3"]}, "page", pages) == {"b"}
    assert subjects_of({"pages": ["http://localhost/a.html"]}, "point", pages) == {"1", "2"}


@pytest.mark.parametrize("url", ["https://x.org/a/b", "http://localhost:3000/a/b/", "a/b.html", "/a/b/index.html#top"])
def test_spellings_of_an_address_are_folded(url):
    assert folded(url) == "a/b"


def test_deleting_the_copy_makes_the_index_right():
    right = [point("1", "one"), point("2", "two")]
    found = outcome({"delete_points": ["3"]}, [*right, point("3", "one")], right)
    assert (found.removed, found.wrong, found.lost) == (True, (1, 0), 0)


def test_deleting_a_copy_and_its_original_loses_a_passage():
    right = [point("1", "one"), point("2", "two")]
    found = outcome({"delete_points": ["1", "3"]}, [*right, point("3", "one")], right)
    assert (found.removed, found.lost) == (False, 1)


def test_a_page_ingested_again_has_its_right_points_and_no_others():
    right = [point("1", "one"), point("2", "two", "https://docs.example.com/b")]
    stored = [point("1", "one, spoilt"), point("9", "older"), right[1]]
    assert outcome({"reingest_pages": ["https://docs.example.com/a/"]}, stored, right).removed


def test_no_advice_changes_nothing():
    right = [point("1", "one")]
    found = outcome(None, [], right)
    assert (found.advised, found.removed, found.wrong) == (False, False, (1, 1))


def test_a_passage_with_other_blanks_and_marks_is_not_lost():
    right, older = point("1", "├── one\n two"), point("2", "one two")
    assert outcome({"delete_points": ["1"]}, [right, older], [right]).lost == 0
    assert outcome({"delete_points": ["1"]}, [right, point("2", "one")], [right]).lost == 1
