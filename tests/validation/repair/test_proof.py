"""Which deletions are proven to lose nothing, over real facts of a small site."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.validation.facts.places import is_within, united
from ragval_pipeline.validation.repair.proof import Proof
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, PAGES, VISITORS, facts_of, point

#: Points 0 and 1 have all of page /a, as 2 does alone; 3 has text that is on no page, 4 and 5 are one page each.
POINTS = (
    point("/a", GRIPPER, 0), point("/a", CAMERA, 1), point("/a", f"{GRIPPER}\n{CAMERA}", 0),
    point("/a", "Words of an older version that nobody reads.", 2), point("/b", BATTERY), point("/c", VISITORS),
)  # fmt: skip


@pytest.mark.parametrize(
    ("deleted", "unproven"),
    [
        ("2", ""), ("01", ""), ("012", "012"), ("02", "02"), ("3", ""), ("4", "4"), ("345", "45"), ("", ""),
    ],
)  # fmt: skip
def test_a_deletion_is_proven_if_the_points_that_stay_hold_every_letter(tmp_path: Path, deleted: str, unproven: str):
    assert Proof(facts_of(tmp_path, PAGES, *POINTS)).unproven(set(deleted)) == set(unproven)


def test_a_text_has_to_stay_in_every_partition(tmp_path: Path):
    facts = facts_of(tmp_path, PAGES, *POINTS)
    of_two = {"0": "team a", "1": "team a", "2": "team b"}
    assert Proof(facts, of_two.get).unproven({"2"}) == {"2"}
    assert Proof(facts, dict.fromkeys(of_two, "team a").get).unproven({"2"}) == set()


def test_of_two_copies_that_are_both_deleted_none_is_proven(tmp_path: Path):
    facts = facts_of(tmp_path, PAGES, point("/b", BATTERY), point("/b", BATTERY))
    assert Proof(facts).unproven({"0", "1"}) == {"0", "1"}
    assert Proof(facts).unproven({"1"}) == set()


def test_a_page_that_was_not_read_proves_only_equal_texts(tmp_path: Path):
    facts = facts_of(
        tmp_path, {"/a": None}, point("/a", GRIPPER), point("/a", GRIPPER), point("/a", f"{GRIPPER} Or so.")
    )
    assert Proof(facts).unproven({"1"}) == set()
    assert Proof(facts).unproven({"2"}) == {"2"}


def test_text_of_the_site_under_another_address_is_lost_with_it(tmp_path: Path):
    facts = facts_of(tmp_path, PAGES, point("/old", BATTERY))
    assert Proof(facts).unproven({"0"}) == set()
    assert Proof(facts, moved=frozenset({"https://docs.example.com/old"})).unproven({"0"}) == {"0"}


def test_a_section_that_moved_to_a_page_that_lacks_it_is_lost_with_the_old_chunk_that_has_it(tmp_path: Path):
    # /a had the paragraph about the battery, which is on /b now; 0 is of the old version of /a, 1 of the new one.
    stored = (
        point("/a", f"{GRIPPER}\n{CAMERA}\n{BATTERY}"),
        point("/a", f"{GRIPPER}\n{CAMERA}"),
        point("/b", "Short."),
    )
    texts = {
        str(number): text for number, text in enumerate((f"{GRIPPER}\n{CAMERA}\n{BATTERY}", f"{GRIPPER}\n{CAMERA}"))
    }
    facts = facts_of(tmp_path, PAGES, *stored)
    assert Proof(facts, texts_of=lambda _: texts).unproven({"0"}) == {"0"}


def test_a_section_that_moved_to_a_page_that_has_it_is_not_lost(tmp_path: Path):
    stored = (point("/a", f"{GRIPPER}\n{CAMERA}\n{BATTERY}"), point("/a", f"{GRIPPER}\n{CAMERA}"), point("/b", BATTERY))
    texts = {"0": f"{GRIPPER}\n{CAMERA}\n{BATTERY}", "1": f"{GRIPPER}\n{CAMERA}", "2": BATTERY}
    facts = facts_of(tmp_path, PAGES, *stored)
    assert Proof(facts, texts_of=lambda _: texts).unproven({"0"}) == set()


def test_touching_parts_of_a_page_are_one():
    held = united([(5, 9), (0, 5), (12, 15), (13, 14)])
    assert held == [(0, 9), (12, 15)]
    assert [span for span in ((0, 9), (4, 6), (8, 13), (12, 15), (9, 10)) if is_within(span, held)] == [
        (0, 9), (4, 6), (12, 15),
    ]  # fmt: skip
