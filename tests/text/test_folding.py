from __future__ import annotations

import numpy as np
import pytest

from ragval_pipeline.text.folding import FoldedText, as_written, fold, words_of


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("File-Name 1", "filename1"),
        ("snake_case", "snakecase"),
        ("ﬁle", "file"),
        ("Straße Ⅳ", "straßeiv"),
        ("ΛΟΓΟΣ", fold("λογος")),
        ("İstanbul", "istanbul"),
        ("Kalibrierung\u00ad\u200b", "kalibrierung"),
        ("机器人，手臂", "机器人手臂"),
        ("«Робот»", "робот"),
        ("!?… – •", ""),
    ],
)
def test_letters_and_digits_are_kept_in_their_order(text: str, letters: str):
    assert fold(text) == letters
    # A long text takes another way to the same letters.
    assert fold(text * 60) == letters * 60


def test_each_letter_knows_its_place_in_the_text():
    text = FoldedText.of("Ab, c–d\u200be f")
    assert text.letters == "abcdef"
    assert [text.shown[at] for at in text.offsets] == ["A", "b", "c", "d", "e", "f"]
    assert text.between(1, 3) == "b, c"
    assert text.between(2, 2) == ""


def test_blanks_marks_and_nothing_between_two_letters_are_distinguished():
    text = FoldedText.of("a b-c\u200bd")
    assert text.spaced.tolist() == [True, True, False, False]
    assert text.apart.tolist() == [True, True, True, False]


def test_tokens_are_what_blanks_part_and_each_character_of_a_script_without_blanks():
    text = FoldedText.of("it's one-two 机器")
    assert [text.letters[first:last] for first, last in text.tokens] == ["its", "onetwo", "机", "器"]


def test_words_are_cut_at_the_borders_that_are_asked_for():
    text = FoldedText.of("alpha beta gamma")
    assert [text.letters[a:b] for a, b in text.words_between(2, 11)] == ["pha", "beta", "ga"]


def test_characters_beyond_the_basic_plane_keep_their_places():
    text = FoldedText.of("𝐀b 😀 c𠀀")
    assert text.letters == "abc𠀀"
    assert np.array_equal(text.alone, [False, False, False, True])


def test_words_of_a_script_without_blanks_are_written_without_them():
    assert as_written(words_of("On this page ヒントを 参照")) == "on this page ヒントを参照"


def test_a_word_goes_on_behind_its_vowel_signs_and_points():
    assert words_of("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]
    assert words_of("الثابّت שָׁלוֹם") == ["الثابّت", "שָׁלוֹם"]
