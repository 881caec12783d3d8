from __future__ import annotations

import pytest

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.validation.repair.corpus import in_chunks, missing_passages, own_passage

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
    passage = own_passage(chunk, WHOLE)
    assert passage is not None
    assert "blank is held in a collet and indexed by a plate with sixty" in passage
    assert abs(len(passage) - len(SECOND)) < 20


def test_a_text_of_another_page_is_found_nowhere() -> None:
    assert own_passage("Paint dries for two days before the second coat is put on with a brush.", WHOLE) is None
    assert own_passage("", WHOLE) is None


def test_what_no_chunk_holds_is_missing_in_page_order() -> None:
    assert missing_passages(WHOLE, [SECOND]) == [PAGE[: PAGE.index("Each") - 2], PAGE[PAGE.index("After") : -1]]
    assert missing_passages(WHOLE, [PAGE[:100], PAGE[80:]]) == []
    assert missing_passages(FoldedText.of(""), [SECOND]) == []


def test_a_passage_is_cut_between_words_and_nothing_of_it_is_lost() -> None:
    pieces = in_chunks(PAGE, 60)
    assert " ".join(pieces) == PAGE
    assert all(55 <= len(piece) <= 70 for piece in pieces)
    assert "".join(in_chunks("\u8d64" * 100, 30)) == "\u8d64" * 100
