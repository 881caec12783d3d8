from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragval_pipeline.demo.ingest import MAX_WORDS, Block, chunk_page


def _words(count: int, name: str = "word") -> str:
    return " ".join(f"{name}{index}" for index in range(count))


def test_a_short_section_is_one_chunk_with_its_subsection():
    blocks = [Block("Book", 1), Block("Topics", 2), Block(_words(55)), Block("Delivery", 3), Block(_words(60, "late"))]
    (chunk,) = chunk_page(blocks)
    assert chunk.headings == ("Book", "Topics")
    assert chunk.text == f"Book\nTopics\n{_words(55)}\nDelivery\n{_words(60, 'late')}"


def test_a_long_section_is_divided_at_its_subsection_whose_chunk_names_all_three_headings():
    blocks = [Block("Book", 1), Block("Topics", 2), Block(_words(100)), Block("Delivery", 3), Block(_words(90, "late"))]
    first, second = chunk_page(blocks)
    assert first.text == f"Book\nTopics\n{_words(100)}"
    assert second.headings == ("Book", "Topics", "Delivery")
    assert second.text == f"Book\nTopics\nDelivery\n{_words(90, 'late')}"


def test_a_subsection_too_short_to_stand_alone_joins_the_one_before_it():
    blocks = [Block("Book", 1), Block("Topics", 2), Block(_words(160)), Block("Delivery", 3), Block(_words(20, "late"))]
    (chunk,) = chunk_page(blocks)
    assert chunk.body.endswith(f"Delivery\n{_words(20, 'late')}")


def test_what_is_too_long_is_divided_between_blocks_into_equal_parts():
    blocks = [Block("Book", 1), Block("Topics", 2), *(Block(_words(60, f"p{part}-")) for part in range(6))]
    chunks = chunk_page(blocks)
    assert [len(chunk.body.split()) for chunk in chunks] == [180, 180]
    assert {chunk.headings for chunk in chunks} == {("Book", "Topics")}


def test_the_text_before_the_first_section_is_a_chunk_of_its_own():
    blocks = [Block("Book", 1), Block(_words(65)), Block("Topics", 2), Block(_words(80, "topic"))]
    assert [chunk.headings for chunk in chunk_page(blocks)] == [("Book",), ("Book", "Topics")]


def test_a_heading_without_text_makes_no_empty_chunk():
    assert chunk_page([Block("Book", 1), Block("Empty", 2)]) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 120)), max_size=25))
def test_every_block_is_in_exactly_one_chunk_and_in_order(shape: list[tuple[int, int]]):
    blocks = [Block("Book", 1)]
    for number, (level, count) in enumerate(shape):
        text = f"Heading-{number}" if level >= 2 else _words(count, f"b{number}-")
        blocks.append(Block(text, level if level >= 2 else 0))
    lines = [line for chunk in chunk_page(blocks) for line in chunk.body.split("\n")]
    assert [line for line in lines if not line.startswith("Heading-")] == [b.text for b in blocks if not b.level]
    assert all(len(chunk.body.split()) <= MAX_WORDS + 120 for chunk in chunk_page(blocks))
