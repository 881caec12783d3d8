"""How often a typical page is stored, by its chunks alone."""

from __future__ import annotations

from ragval_pipeline.validation.first_look.repeats import repeats_of

#: A page of 400 different words.
WORDS = [f"word{number}" for number in range(400)]


def chunks_of(size: int, step: int) -> list[str]:
    """The page in chunks of so many words, one beginning so many after the other."""
    return [" ".join(WORDS[start : start + size]) for start in range(0, len(WORDS) - size + 1, step)]


def test_chunks_beside_each_other_store_a_page_once() -> None:
    repeats = repeats_of([chunks_of(50, 50)])
    assert repeats is not None
    assert (repeats.usual, repeats.more, repeats.is_usual) == (1, 0, False)


def test_a_page_ingested_twice_is_stored_twice() -> None:
    repeats = repeats_of([chunks_of(50, 50) * 2])
    assert repeats is not None
    assert (repeats.usual, repeats.more, repeats.is_usual) == (2, 1, True)


def test_an_overlap_of_a_fifth_is_no_repetition_and_one_of_five_sixths_is() -> None:
    usual, much = repeats_of([chunks_of(50, 40)]), repeats_of([chunks_of(60, 10)])
    assert usual is not None
    assert much is not None
    assert (usual.is_usual, much.is_usual) == (False, True)


def test_one_page_that_repeats_itself_is_not_typical() -> None:
    repeats = repeats_of([chunks_of(50, 50), chunks_of(50, 50), chunks_of(50, 50) * 3])
    assert repeats is not None
    assert (repeats.is_usual, repeats.more, repeats.pages) == (False, 1, 3)


def test_short_pages_say_nothing() -> None:
    assert repeats_of([["a few words only"], ["and others"]]) is None
