"""Texts of ASCII take a shorter way to the same words, marks and characters."""

import re

from ragval_pipeline.sources.embedders.static import static_parts
from ragval_pipeline.sources.embedders.tokens import count_tokens
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.validation.facts.strays import stray_characters
from ragval_pipeline.validation.facts.texts import StoredText
from ragval_pipeline.validation.facts.tokens import NOTHING_LIMITED, count_texts

EVERY = "Bolt_7 ".join(map(chr, range(128)))


def test_words_and_marks_of_ascii_are_those_of_any_other_text():
    [counts] = count_texts([StoredText({"text": EVERY, "model": None})], NOTHING_LIMITED)
    assert counts["marks"] == len(re.findall(r"\w+|[^\w\s]", EVERY))
    assert words_of(EVERY) == words_of(f"{EVERY} \u00bb")


def test_control_characters_of_ascii_are_stray():
    assert sum(stray_characters(EVERY).values()) == len(re.findall("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", EVERY))
    assert not stray_characters("Tabs\tand\r\nlines")


def test_tokens_counted_by_words_are_those_of_the_whole_text():
    texts = ["", " ", "a  b", " grip the arm ", "one\n\ntwo  three", "<s> tag </s>", "\u2581 bar", EVERY]
    tokenizer = static_parts().tokenizer
    assert count_tokens(texts) == [len(tokenizer.encode(text, add_special_tokens=False)) for text in texts]
