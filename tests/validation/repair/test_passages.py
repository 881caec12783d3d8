from __future__ import annotations

import time

import pytest

from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.validation.repair.passages import as_on_page, closes_over, missing_passages, place_of

PAGE = (
    "Gears are cut from brass on the small lathe. The cutter has one tooth and turns slowly. "
    "Each blank is held in a collet and indexed by a plate with sixty holes. "
    "After the last tooth the burr is taken off with a stone, and the gear is washed in oil."
)
WHOLE = FoldedText.of(PAGE)
SECOND = "Each blank is held in a collet and indexed by a plate with sixty holes."


@pytest.mark.parametrize(
    "chunk",
    [
        SECOND,
        SECOND.replace("collet and indexed", "colletandindexed"),
        SECOND.replace("held", "h\u00e2\u0080\u0099eld"),
        SECOND.replace("sixty", "ninety"),
        f"On this page {SECOND}",
    ],
    ids=["as it is", "glued", "damaged", "changed", "with furniture"],
)
def test_a_chunk_is_found_where_its_page_has_it(chunk: str) -> None:
    placed = place_of(chunk, WHOLE)
    assert placed is not None
    passage = WHOLE.between(placed.start, placed.end)
    assert "in a collet and indexed by a plate with sixty" in passage
    assert abs(placed.end - len(fold(PAGE[: PAGE.index("After")]))) < 20


def test_a_text_of_another_page_is_found_nowhere() -> None:
    assert place_of("Paint dries for two days before the second coat is put on with a brush.", WHOLE) is None
    assert place_of("", WHOLE) is None


def test_what_no_chunk_holds_is_missing_in_page_order() -> None:
    missing = [WHOLE.between(*span) for span in missing_passages(WHOLE, [SECOND])]
    assert missing == [PAGE[: PAGE.index("Each") - 2], PAGE[PAGE.index("After") : -1]]
    assert missing_passages(WHOLE, [PAGE[:100], PAGE[80:]]) == []
    assert missing_passages(FoldedText.of(""), [SECOND]) == []


def test_a_page_that_repeats_itself_costs_what_its_length_costs() -> None:
    """A table of 10,000 equal cells: each piece of a chunk stands in all of them."""
    cells = "no " * 10_000
    begun = time.process_time()
    assert missing_passages(FoldedText.of(cells), [cells]) == []
    assert time.process_time() - begun < 5


def test_text_added_before_a_chunk_does_not_affect_its_position() -> None:
    placed = place_of(f"Gear cutting > Blanks\n{SECOND}", WHOLE)
    assert placed is not None
    assert placed.opening == "Gear cutting > Blanks\n"
    assert WHOLE.between(placed.start, placed.end) == SECOND[:-1]
    bare = place_of(SECOND, WHOLE)
    assert bare is not None
    assert (bare.opening, bare.start) == ("", placed.start)


def test_a_chunk_that_goes_on_behind_what_it_lacks_was_cut_without_it() -> None:
    before, behind = PAGE.split(f"{SECOND} ")
    [lost] = missing_passages(WHOLE, [before, behind])
    assert closes_over(fold(before + behind), WHOLE, *lost)
    assert not closes_over(fold(before), WHOLE, *lost)
    assert not closes_over(fold(behind), WHOLE, *lost)
    [first] = missing_passages(WHOLE, [SECOND + behind])
    assert not closes_over(fold(SECOND + behind), WHOLE, *first)


def test_text_before_a_chunk_that_is_on_no_page_is_removed_except_marks() -> None:
    first = PAGE[: PAGE.index(SECOND) - 1]
    assert as_on_page(f"Home \u00bb Products \u00bb Pricing \u00bb Careers\n{first}", WHOLE) == first
    marked = SECOND.replace("is held in", "| is held | in").replace("sixty", "ninety")
    assert as_on_page(f"- {marked}", WHOLE) == f"- {marked.replace('ninety', 'sixty')}"
