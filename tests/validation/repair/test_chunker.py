"""Pages are cut as the ingestion that is validated cuts them: its chunks are the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.validation.repair.chunker import Chunker, Layout, Opening
from ragval_pipeline.validation.repair.passages import place_of

WORDS = (
    "gear",
    "brass",
    "tooth",
    "lathe",
    "cutter",
    "blank",
    "collet",
    "plate",
    "burr",
    "stone",
    "oil",
    "rack",
    "worm",
)


def _sentence(seed: int, words: int) -> str:
    return " ".join(f"{WORDS[(seed * 7 + number * number) % 13]}{seed * 31 + number}" for number in range(words)) + "."


def _page(seed: int) -> list[Block]:
    blocks = [Block("heading", f"Page {seed}", 1)]
    for number in range(4):
        blocks.append(Block("heading", f"Section {number} of {seed}", 2))
        paragraphs = range(5 if number == seed % 4 else 2)
        blocks += [Block("paragraph", _sentence(seed * 100 + number * 10 + one, 9 + 3 * one)) for one in paragraphs]
    return blocks


def _sections(blocks: Sequence[Block], limit: int = 400) -> list[str]:
    chunks: list[list[Block]] = [[]]
    for block in blocks:
        full = sum(len(one.text) + 1 for one in chunks[-1]) + len(block.text) > limit
        begins = block.kind == "heading" and any(one.kind != "heading" for one in chunks[-1])
        if chunks[-1] and (begins or full):
            chunks.append([])
        chunks[-1].append(block)
    return ["\n".join(block.text for block in chunk) for chunk in chunks]


def _windows(blocks: Sequence[Block], size: int = 300, overlap: int = 60) -> list[str]:
    text, at, chunks = " ".join(block.text for block in blocks), 0, []
    while len(text) - at > size:
        end = text.rfind(" ", at, at + size)
        chunks.append(text[at:end])
        at = text.rfind(" ", at, end - overlap) + 1
    return [*chunks, text[at:]]


def _learnt(
    chunked: Callable[[Sequence[Block]], list[str]], pages: int = 8
) -> tuple[Chunker | None, Layout, list[str]]:
    layouts = [_layout(_page(seed)) for seed in range(pages + 1)]
    known = []
    for seed, layout in enumerate(layouts[:-1]):
        places = [place_of(text, layout.page) for text in chunked(_page(seed))]
        known.append((layout, [(place.start, place.end) for place in places if place is not None]))
    return Chunker.seen_in(known), layouts[-1], chunked(_page(pages))


def _layout(blocks: Sequence[Block]) -> Layout:
    return Layout.of(FoldedText.of("\n".join(block.text for block in blocks)), blocks)


@pytest.mark.parametrize(("chunked", "overlap"), [(_sections, 0), (_windows, 60)])
def test_a_page_that_was_never_seen_is_cut_as_its_own_ingestion_cuts_it(
    chunked: Callable[[Sequence[Block]], list[str]], overlap: int
) -> None:
    chunker, layout, stored = _learnt(chunked)
    assert chunker is not None
    assert abs(chunker.overlap - overlap) <= 10
    pieces = [layout.text(*piece) for piece in chunker.pieces(layout, 0, len(layout.page.letters))]
    assert len(pieces) == len(stored)
    same = [
        abs(len(piece) - len(text)) <= 12 and piece[:20] in text for piece, text in zip(pieces, stored, strict=True)
    ]
    assert sum(same) >= len(same) - 1


def test_headings_that_begin_chunks_are_distinguished_from_others() -> None:
    headed, windowed = _learnt(_sections)[0], _learnt(_windows)[0]
    assert headed is not None
    assert windowed is not None
    assert (headed.levels, headed.at_blocks, windowed.levels, windowed.at_blocks) == ({2}, True, frozenset(), False)


def test_nothing_is_learnt_from_pages_of_one_chunk_or_from_two() -> None:
    assert _learnt(lambda blocks: [" ".join(block.text for block in blocks)])[0] is None
    assert _learnt(_sections, pages=2)[0] is None


def test_no_word_is_lost_or_split_by_a_default_cut() -> None:
    text = " ".join(_sentence(seed, 9) for seed in range(8))
    layout = Layout.of(FoldedText.of(text), ())
    pieces = Chunker(limit=120, even=True).pieces(layout, 0, len(layout.page.letters))
    assert " ".join(layout.text(*piece) for piece in pieces) == text
    assert all(one[1] == other[0] for one, other in pairwise(pieces))
    assert all(80 <= len(layout.text(*piece)) <= 150 for piece in pieces)


def test_a_chunk_begins_well_behind_the_one_before_it_however_much_they_are_said_to_share() -> None:
    text = " ".join(_sentence(seed, 9) for seed in range(8))
    layout = Layout.of(FoldedText.of(text), ())
    pieces = Chunker(limit=120, overlap=119).pieces(layout, 0, len(layout.page.letters))
    assert len(pieces) <= 2 * len(text) / 120


def test_a_script_without_blanks_is_cut_anywhere() -> None:
    layout = Layout.of(FoldedText.of("\u8d64" * 100), ())
    assert [end - start for start, end in Chunker(limit=30).pieces(layout, 0, 100)] == [30, 30, 30, 10]


def test_text_before_most_chunks_is_added_before_new_ones() -> None:
    rows = [{"title": f"Page {number}", "headings": [f"Page {number}", "Use"]} for number in range(3)]
    seen = Opening.seen_in([_opened(f"[{row['title']}] {' / '.join(row['headings'])}\n", row) for row in rows])
    assert seen.of({"title": "Gears", "headings": ["Gears", "Cut", "Deep"]}) == "[Gears] Gears / Cut / Deep\n"
    assert Opening.seen_in([_opened("a", rows[0]), _opened("b", rows[1])]).of(rows[0]) == ""
    assert Opening.seen_in([]).of(rows[0]) == ""


def _opened(opening: str, row: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    return opening, f"{opening}Each blank is held in a collet.", row


def test_the_path_of_a_chunk_holds_the_headings_that_its_page_begins_it_with() -> None:
    """Chunks at the beginning of a section and further down in it, of all depths, are written in one way."""
    paths = [["Gears"], ["Gears", "Cut"], ["Gears", "Cut", "Deep"]]
    openings = ["", "Gears > ", "Gears > Cut > Deep\n"]
    rows = [{"headings": path, "title": "Gears", "text": f"{' > '.join(path)}\nEach blank is held."} for path in paths]
    seen = Opening.seen_in([(one, row["text"], row) for one, row in zip(openings, rows, strict=True)])
    assert seen.of({"headings": ["Worms", "Use"]}) == "Worms > Use\n"
    assert seen.takes_in
    repeated = Opening.seen_in([(f"{' > '.join(row['headings'])}\n", f"{row['text']}", row) for row in rows])
    assert (repeated.shape, repeated.takes_in) == (seen.shape, False)


def test_a_page_that_begins_with_its_headings_has_them_in_its_text_where_no_path_is_added() -> None:
    """The first chunk of every page looks as if its path had taken the headings in."""
    rows = [{"headings": ["Gears"], "text": f"{text} Each blank is held."} for text in ("Gears", "Then", "Then")]
    seen = Opening.seen_in([("", row["text"], row) for row in rows])
    assert (seen.shape, seen.takes_in) == ("", False)


def test_a_short_value_is_no_part_of_a_word_of_the_opening() -> None:
    seen = Opening.seen_in([_opened("Module: C\n\n", {"module": "C"}), _opened("Module: D\n\n", {"module": "D"})])
    assert seen.of({"module": "Go"}) == "Module: Go\n\n"
    assert Opening.seen_in([_opened("Code\n", {"title": "C"})]).of({"title": "Go"}) == "Code\n"


def test_headings_that_begin_a_chunk_are_left_to_its_path() -> None:
    layout = _layout([Block("heading", "Gears", 1), Block("heading", "Cut", 2), Block("paragraph", "Each blank.")])
    assert layout.below_headings(0) == len("GearsCut")
    assert layout.below_headings(len("Gears") + 1) == len("Gears") + 1
