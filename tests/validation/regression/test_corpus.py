from __future__ import annotations

import pytest

from ragval_pipeline.validation.regression.turnover import ChunkChange, chunk_changes, turnover
from tests.validation.regression.runs import row


def test_the_same_chunks_under_other_ids_are_no_change() -> None:
    before, after = [row("p", "one", "1")], [row("p", "one", "2")]
    assert chunk_changes(before, after) == []
    assert turnover(before, after).share == 0


def test_pages_are_classified_as_added_removed_and_changed() -> None:
    change = turnover(
        [row("gone", "a"), row("edited", "b"), row("kept", "c")],
        [row("new", "d"), row("edited", "e"), row("kept", "c")],
    )
    assert (change.pages_added, change.pages_removed, change.pages_changed) == (["new"], ["gone"], ["edited"])
    assert change.share == pytest.approx(2 / 3)
    assert (change.chunks_added, change.chunks_removed, change.chunks_kept) == (2, 2, 1)


@pytest.mark.parametrize(("kept", "void"), [(4, True), (5, True), (6, False)])
def test_labels_on_chunks_are_void_from_half_on(kept: int, void: bool) -> None:
    before = [row("p", str(number)) for number in range(10)]
    after = [row("p", str(number)) for number in range(kept)]
    assert turnover(before, after).voids_chunk_labels is void


def test_a_collection_that_only_grew_did_not_turn_over() -> None:
    assert turnover([row("p", "a")], [row("p", "a"), row("q", "b")]).share == 0
    assert turnover([], [row("p", "a")]).share == 0


def test_a_copy_more_is_one_chunk_added() -> None:
    change = turnover([row("p", "a")], [row("p", "a"), row("p", "a")])
    assert (change.chunks_added, change.chunks_removed) == (1, 0)


def test_another_text_at_the_same_place_is_a_changed_chunk() -> None:
    before = [row("p", "a", "1", 0), row("p", "b", "2", 1), row("p", "c", "3", 2)]
    after = [row("p", "a", "4", 0), row("p", "B", "5", 1), row("q", "d", "6", 0)]
    assert chunk_changes(before, after) == [
        ChunkChange("p", 1, "2", "5"),
        ChunkChange("p", 2, "3", None),
        ChunkChange("q", 0, None, "6"),
    ]


def test_points_without_page_or_place_are_compared_too() -> None:
    assert chunk_changes([row(None, "a", "1", None)], [row(None, "b", "2", None)]) == [
        ChunkChange(None, None, "1", None),
        ChunkChange(None, None, None, "2"),
    ]
