from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragval_pipeline.sources.embedders.static import (
    SLICE_CHARS,
    SLICE_TEXTS,
    pieces_of,
    slices_of,
    static_parts,
)

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=40).map(" ".join)


def tokens(text: str) -> list[int]:
    return list(static_parts().tokenizer.encode(text, add_special_tokens=False).ids)


@settings(max_examples=200)
@given(WORDS, st.integers(20, 60))
def test_pieces_hold_every_character_but_the_blanks_that_were_cut_at(text, limit):
    pieces = list(pieces_of(text, limit))
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


@settings(max_examples=200)
@given(st.lists(st.text("abcXYZ019\u00e9\u4e2d,.</s>\u2581-", min_size=1, max_size=9), min_size=1, max_size=60))
def test_the_pieces_of_a_text_have_the_tokens_of_the_whole(words):
    text = " some word ".join(words)
    pieces = list(pieces_of(text, 40))
    assert [token for piece in pieces for token in tokens(piece)] == tokens(text)


def test_slices_stay_small_however_many_or_long_the_texts_are():
    texts = ["long " * 100_000, *["short"] * 2000, "", "x" * 40_000]
    slices = list(slices_of(texts))
    assert all(len(held) <= SLICE_TEXTS for held in slices)
    assert all(sum(len(piece) for _, piece in held) <= SLICE_CHARS for held in slices)
    indices = [index for held in slices for index, _ in held]
    assert indices == sorted(indices)
    assert set(indices) == set(range(len(texts))) - {2001}
