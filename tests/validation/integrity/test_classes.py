from __future__ import annotations

from dataclasses import replace

import pytest

from ragval_pipeline.validation.facts.rows import ChunkFacts, Edge
from ragval_pipeline.validation.integrity.content import class_of
from ragval_pipeline.validation.integrity.habits import ANY, Habits
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS


def chunk(found: int, *, words: int = 100, changed: int = 0, openings: tuple[Edge, ...] = ()) -> ChunkFacts:
    return ChunkFacts(
        "1", "/a", compared=True, chunk_index=0, embedded_at=None, model=None, letters=1000, found=found,
        words=words, changed=changed, surely=found, longest=0,
        starts=(), places=(), lengths=(), openings=openings,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "changed", "expected"),
    [
        (1000, 0, "verified"),
        (970, 2, "verified"),
        (969, 0, "drifted"),
        (990, 3, "drifted"),
        (500, 50, "drifted"),
        (499, 50, "gone"),
        (0, 100, "gone"),
    ],
)
def test_letters_and_words_decide(found: int, changed: int, expected: str):
    assert class_of(chunk(found, changed=changed)) == expected


def test_a_habit_does_not_save_a_chunk_that_is_hardly_on_its_page():
    framed = chunk(400, changed=60, openings=(Edge("title", 600, 60),))
    assert class_of(framed, Habits(openings={"title": Edge("title", 900, 90)})) == "gone"


def test_a_habit_may_be_longer_than_the_text_that_it_frames():
    framed = replace(chunk(400, changed=60, openings=(Edge("title", 600, 60),)), longest=ANCHOR_LETTERS)
    assert class_of(framed, Habits(openings={"title": Edge("title", 900, 90)})) == "verified"
    assert class_of(framed, Habits(openings={"title": Edge("title", 300, 90)})) == "drifted"
    assert class_of(framed, Habits(openings={"title": Edge("title", 100, 90)})) == "gone"


def test_a_chunk_of_nothing_but_a_habit_is_verified_unless_it_goes_on():
    usual = Habits(openings={"title": Edge("title", 1000, 90), ANY: Edge(ANY, 1000, 90)})
    assert class_of(chunk(0, changed=60, openings=(Edge("title", 1000, 60),)), usual) == "verified"
    assert class_of(chunk(0, changed=60, openings=(Edge("title", 600, 60), Edge("other", 400, 60))), usual) == "gone"
    assert class_of(chunk(0, changed=60, openings=(Edge("other", 1000, 60),)), usual) == "gone"


def test_a_short_heading_behind_a_frame_needs_no_long_run():
    framed = chunk(400, changed=60, openings=(Edge("title", 600, 60),))
    usual = Habits(openings={"title": Edge("title", 900, 90)})
    assert class_of(replace(framed, starts=(0, 990), lengths=(390, 10), places=(5, 50)), usual) == "verified"
    assert class_of(replace(framed, starts=(0, 980), lengths=(390, 10), places=(5, 50)), usual) == "gone"
    assert class_of(replace(framed, starts=(0, 590), lengths=(10, 390), places=(5, 50)), usual) == "verified"


def test_a_habit_is_left_out_of_both_counts():
    framed = chunk(600, changed=40, openings=(Edge("title", 400, 40),))
    assert class_of(framed) == "drifted"
    usual = Edge("title", 500, 50)
    assert class_of(framed, Habits(openings={"title": usual})) == "verified"
    assert class_of(framed, Habits(openings={"source": usual})) == "drifted"
    assert class_of(framed, Habits(openings={ANY: usual})) == "verified"
    assert class_of(framed, Habits(openings={"title": Edge("title", 300, 50)})) == "drifted"
    assert class_of(framed, Habits(openings={"title": Edge("title", 500, 37)})) == "drifted"


def test_what_a_habit_leaves_of_its_size_goes_to_the_next_line_inwards():
    framed = chunk(600, changed=40, openings=(Edge("title", 300, 30), Edge("source", 100, 10)))
    assert class_of(framed, Habits(openings={"title": Edge("title", 400, 40)})) == "verified"
    assert class_of(framed, Habits(openings={"title": Edge("title", 350, 40)})) == "drifted"
    assert class_of(framed, Habits(openings={"source": Edge("source", 400, 40)})) == "drifted"


def test_words_that_stand_alone_in_their_lines_keep_no_chunk_from_being_gone():
    listed = replace(chunk(700, changed=30, openings=(Edge("title", 300, 30),)), surely=400, longest=ANCHOR_LETTERS)
    assert class_of(listed) == "gone"
    assert class_of(replace(listed, surely=600)) == "drifted"
    # Of a framed table all cells stand on the page.
    assert class_of(listed, Habits(openings={"title": Edge("title", 300, 30)})) == "verified"


def test_texts_of_other_pages_show_no_habit_however_many_begin_alike():
    edge = Edge("gripper", 600, 60)
    strange = [replace(chunk(400, changed=60, openings=(edge,)), longest=ANCHOR_LETTERS) for _ in range(6)]
    habits = Habits.of(strange, total=8, pages=1)
    assert {class_of(entry, habits) for entry in strange} == {"gone"}
