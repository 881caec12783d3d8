from __future__ import annotations

import pytest

from ragval_pipeline.text.folding import words_of
from ragval_pipeline.validation.facts.furniture import Phrase, furniture_phrases


def sure(text: str) -> list[str]:
    return [phrase.words for phrase in furniture_phrases(text, words_of(text)) if phrase.sure]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("On this page\nChapter 1", "on this page"),
        ("Module 1 On this page Module 1: The Nervous System", "on this page"),
        ("and that is all. Edit this page", "edit this page"),
        ("see [Edit this page](https://example.com/edit)", "edit this page"),
        ("# on this page #", "on this page"),
        ("Copyright © 2026 Us. Built with Docusaurus. 💬", "built with docusaurus"),
        ("Was this page helpful? Yes No", "was this page helpful"),
        ("Last updated on Jan 3, 2026", "last updated on"),
    ],
)
def test_a_phrase_as_themes_write_it_is_furniture(text, phrase):
    assert sure(text) == [phrase]


@pytest.mark.parametrize(
    "text",
    [
        "We say on this page how it works.",
        'Click "Edit this page" in the corner.',
        "Press the Edit this page button.",
        "In short: On this page, you will learn",
        "The Last updated on field holds a date.",
        "built with docusaurus and react",
    ],
)
def test_a_sentence_with_the_same_words_is_not(text):
    assert sure(text) == []


def test_a_chunk_that_begins_like_a_sentence_is_not_sure():
    text = "On this page and in the next chunk"
    assert furniture_phrases(text, words_of(text)) == [Phrase("on this page", sure=False)]
