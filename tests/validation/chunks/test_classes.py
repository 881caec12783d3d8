from __future__ import annotations

from dataclasses import replace

import pytest

from ragval_pipeline.validation.chunks.content import class_of
from ragval_pipeline.validation.chunks.habits import ANY, Habits
from ragval_pipeline.validation.facts.rows import ChunkFacts, Edge, Replaced
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS


def chunk(
    found: int, *, replaced: int = 0, inserted: tuple[str, ...] = (), openings: tuple[Edge, ...] = ()
) -> ChunkFacts:
    return ChunkFacts(
        "1", "/a", compared=True, chunk_index=0, embedded_at=None, model=None, letters=1000, found=found,
        words=100, changed=0, surely=found, longest=0, starts=(), places=(), lengths=(),
        replaced=(Replaced("90", "45"),) * replaced, inserted=inserted, openings=openings,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "replaced", "inserted", "expected"),
    [
        (1000, 0, (), "verified"),
        (970, 0, (), "verified"),
        (969, 0, (), "drifted"),
        (999, 1, (), "drifted"),
        (997, 0, ("not",), "drifted"),
        (500, 50, (), "drifted"),
        (499, 50, (), "gone"),
        (0, 0, (), "gone"),
    ],
)
def test_a_share_of_the_letters_decides_or_one_word_in_place(
    found: int, replaced: int, inserted: tuple[str, ...], expected: str
):
    assert class_of(chunk(found, replaced=replaced, inserted=inserted)) == expected


def test_a_habit_does_not_save_a_chunk_that_is_hardly_on_its_page():
    framed = chunk(400, openings=(Edge("title", 600),))
    assert class_of(framed, Habits(openings={"title": Edge("title", 900)})) == "gone"


def test_a_habit_may_be_longer_than_the_text_that_it_frames():
    framed = replace(chunk(400, openings=(Edge("title", 600),)), longest=ANCHOR_LETTERS)
    assert class_of(framed, Habits(openings={"title": Edge("title", 900)})) == "verified"
    assert class_of(framed, Habits(openings={"title": Edge("title", 300)})) == "drifted"
    assert class_of(framed, Habits(openings={"title": Edge("title", 100)})) == "gone"


def test_a_chunk_of_nothing_but_a_habit_is_verified_unless_it_goes_on():
    usual = Habits(openings={"title": Edge("title", 1000), ANY: Edge(ANY, 1000)})
    assert class_of(chunk(0, openings=(Edge("title", 1000),)), usual) == "verified"
    assert class_of(chunk(0, openings=(Edge("title", 600), Edge("other", 400))), usual) == "gone"
    assert class_of(chunk(0, openings=(Edge("other", 1000),)), usual) == "gone"


def test_a_short_heading_behind_a_frame_needs_no_long_run():
    framed = chunk(400, openings=(Edge("title", 600),))
    usual = Habits(openings={"title": Edge("title", 900)})
    assert class_of(replace(framed, starts=(0, 990), lengths=(390, 10), places=(5, 50)), usual) == "verified"
    assert class_of(replace(framed, starts=(0, 980), lengths=(390, 10), places=(5, 50)), usual) == "gone"
    assert class_of(replace(framed, starts=(0, 590), lengths=(10, 390), places=(5, 50)), usual) == "verified"


def test_a_habit_is_left_out_of_both_counts():
    framed = chunk(600, openings=(Edge("title", 400),))
    assert class_of(framed) == "drifted"
    usual = Edge("title", 500)
    assert class_of(framed, Habits(openings={"title": usual})) == "verified"
    assert class_of(framed, Habits(openings={"source": usual})) == "drifted"
    assert class_of(framed, Habits(openings={ANY: usual})) == "verified"
    assert class_of(framed, Habits(openings={"title": Edge("title", 300)})) == "drifted"
    replaced = replace(framed, replaced=(Replaced("90", "45"),) * 2, openings=(Edge("title", 400, 2),))
    assert class_of(replaced, Habits(openings={"title": Edge("title", 500, 2)})) == "verified"
    assert class_of(replaced, Habits(openings={"title": Edge("title", 399, 1)})) == "drifted"


def test_what_is_put_between_the_words_of_three_pages_is_a_habit():
    found = [replace(chunk(990, inserted=("image",)), page_key=f"/{page}") for page in (0, 0, 1, 2)]
    of_two, of_three = (Habits.of(entries, total=9, pages=4) for entries in (found[:3], found))
    assert [class_of(entry, of_two) for entry in found[:3]] == ["drifted"] * 3
    assert [class_of(entry, of_three) for entry in found] == ["verified"] * 4
    assert class_of(replace(found[0], inserted=("image", "not")), of_three) == "drifted"


def test_an_end_that_no_other_page_has_is_drift_however_short():
    ends = {"starts": (0,), "places": (5,), "lengths": (985,)}
    found = [
        replace(
            chunk(985, openings=()), point_id=str(page), page_key=f"/{page}", closings=(Edge("advert", 15),), **ends
        )
        for page in range(40)
    ]
    verified = [replace(chunk(1000), point_id=f"v{number}") for number in range(40)]

    def classes(*chunks: ChunkFacts) -> set[str]:
        habits = Habits.of(chunks, total=len(chunks) + len(verified), pages=80)
        return {class_of(entry, habits) for entry in chunks}

    assert classes(*found[:2]) == {"drifted"}
    assert classes(*found[:3]) == {"verified"}  # too few to be a habit of all chunks
    # The page goes on behind such words: they are not the end of the chunk.
    assert class_of(replace(found[0], starts=(0, 990), places=(5, 990), lengths=(975, 10))) == "verified"


def test_what_a_habit_leaves_of_its_size_goes_to_the_next_line_inwards():
    framed = chunk(600, openings=(Edge("title", 300), Edge("source", 100)))
    assert class_of(framed, Habits(openings={"title": Edge("title", 400)})) == "verified"
    assert class_of(framed, Habits(openings={"title": Edge("title", 350)})) == "drifted"
    assert class_of(framed, Habits(openings={"source": Edge("source", 400)})) == "drifted"


def test_words_that_stand_alone_in_their_lines_keep_no_chunk_from_being_gone():
    listed = replace(chunk(700, openings=(Edge("title", 300),)), surely=400, longest=ANCHOR_LETTERS)
    assert class_of(listed) == "gone"
    assert class_of(replace(listed, surely=600)) == "drifted"
    # Of a framed table all cells stand on the page.
    assert class_of(listed, Habits(openings={"title": Edge("title", 300)})) == "verified"


def test_texts_of_other_pages_show_no_habit_however_many_begin_alike():
    edge = Edge("gripper", 600)
    strange = [replace(chunk(400, openings=(edge,)), longest=ANCHOR_LETTERS) for _ in range(6)]
    habits = Habits.of(strange, total=8, pages=1)
    assert {class_of(entry, habits) for entry in strange} == {"gone"}


def test_words_between_quoted_titles_are_part_of_the_edge_that_a_habit_accounts_for():
    """Descriptions quote the title and the first heading, which follow each other on the page."""
    described = chunk(930, inserted=("and introduces",), openings=(Edge("this", 70),))
    usual = Habits(openings={"this": Edge("this", 100)})
    assert class_of(described, usual) == "verified"
    assert class_of(replace(described, openings=(Edge("this", 57),)), usual) == "drifted"  # further down
    assert class_of(described, Habits(openings={"this": Edge("this", 60)})) == "drifted"
    assert class_of(described) == "drifted"
