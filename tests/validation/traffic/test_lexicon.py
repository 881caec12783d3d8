"""Which chunks hold the words of a question."""

from __future__ import annotations

import pytest

from ragval_pipeline.validation.traffic.lexicon import Chunk, Held, Lexicon, most_probable
from ragval_pipeline.validation.traffic.wording import counted_terms

CHUNKS = [
    ("pump", Chunk.of("Water pump", "The pump is checked once a week.")),
    ("pump", Chunk.of("Water pump Noise", "A pump that is noisy has air in it.")),
    ("roof", Chunk.of("Roof", "Rain water runs from the roof.")),
]
ASKED = dict.fromkeys(counted_terms("water pump noise"), 1.0)


def test_a_question_is_held_by_the_chunk_that_says_most_of_it() -> None:
    lexicon = Lexicon(CHUNKS, ASKED)
    found = lexicon.search(ASKED)
    assert found.best_page() == "pump"
    assert found.most().words == found.most().named == 1.0
    left = found.most({"pump"})
    assert left.words == pytest.approx(1 / 3)
    assert left.named == 0.0
    assert found.most({"pump", "roof", "unknown", None}) == Held()


def test_a_chunk_holds_the_same_alone_as_in_the_index() -> None:
    lexicon = Lexicon(CHUNKS, ASKED)
    held = [lexicon.held_by(chunk, ASKED) for _, chunk in CHUNKS]
    assert lexicon.search(ASKED).held.T.tolist() == [pytest.approx(each) for each in held]


def test_words_that_no_chunk_has_are_on_no_page() -> None:
    assert Lexicon(CHUNKS, {"violin"}).search({"violin": 1.0}).best_page() is None
    assert Lexicon([], {"violin"}).search({"violin": 1.0}).most() == Held()


def test_a_word_is_as_rare_as_the_chunks_that_have_it() -> None:
    rarity = Lexicon(CHUNKS, {"water", "roof"}).rarity
    assert rarity("roof") > rarity("water") == 0


def test_the_hit_that_answers_has_the_words_if_its_score_is_nearly_the_best() -> None:
    neighbour, page, other = Held(0.4, 0.2, 0.2), Held(0.9, 0.8, 0.6), Held(0.1, 0.0, 0.1)
    assert most_probable([0.71, 0.70, 0.5], [neighbour, page, other]) == 1
    assert most_probable([0.9, 0.3, 0.2], [neighbour, neighbour, neighbour]) == 0
    assert most_probable([0.5], [other]) == 0
