from __future__ import annotations

import pytest

from ragval_pipeline.reporting.html.questions import excerpt


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
