"""Texts of ASCII take a shorter way to the same words and tokens."""

from ragval_pipeline.sources.embedders.static import static_parts
from ragval_pipeline.sources.embedders.tokens import count_tokens
from ragval_pipeline.text.folding import words_of

EVERY = "Bolt_7 ".join(map(chr, range(128)))


def test_words_of_ascii_are_those_of_any_other_text():
    assert words_of(EVERY) == words_of(f"{EVERY} \u00bb")


def test_tokens_counted_by_words_are_those_of_the_whole_text():
    texts = ["", " ", "a  b", " grip the arm ", "one\n\ntwo  three", "<s> tag </s>", "\u2581 bar", EVERY]
    tokenizer = static_parts().tokenizer
    assert count_tokens(texts) == [len(tokenizer.encode(text, add_special_tokens=False)) for text in texts]
