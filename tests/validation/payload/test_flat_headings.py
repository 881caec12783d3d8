from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
import pytest

from ragval_pipeline.validation.payload.modules import find_flat_headings
from tests.validation.factory import absolute, site
from tests.validation.rows import evidence, named

KEYS = [site().folder().key(absolute(f"/p{page}")) for page in range(4)]


def index(headings, *, text: str = "words", pages: int = 4, chunks: int = 3, deeper=KEYS):
    return evidence(
        *(
            {"source_url": f"/p{page}", "text": text, "headings": headings(page, part)}
            for page in range(pages)
            for part in range(chunks)
        ),
        deeper=deeper,
    )


def judged(found):
    return list(find_flat_headings(found))


def unread():
    raise AssertionError("a text was read")


def test_one_heading_for_all_chunks_of_deeper_pages_is_flat():
    finding = judged(index(lambda page, part: [f"Page {page}"]))[0]
    assert named([finding]) == ["headings"]
    assert finding.details["share"] == 1.0


def first(page: int, part: int) -> list[str]:
    return [f"Page {page}"]


@pytest.mark.parametrize(
    ("found", "is_flat"),
    [
        pytest.param(index(lambda page, part: f"Page {page}"), True, id="plain texts, as lists of one"),
        pytest.param(index(first, text="intro\n## Part\nwords", deeper=()), True, id="deeper headings in the chunks"),
        pytest.param(index(first, deeper=()), False, id="no deeper headings"),
        pytest.param(index(lambda page, part: [f"Part {part}"]), False, id="the nearest heading alone"),
        pytest.param(index(first, chunks=1), False, id="pages of one chunk"),
    ],
)
def test_headings_are_flat_where_there_are_deeper_ones_that_they_leave_out(found, is_flat: bool):
    assert bool(judged(found)) is is_flat


def test_paths_cut_to_their_first_heading_are_flat_though_pages_have_several_of_that_level():
    levels = [("Ownership", 1), ("Summary", 1), ("The stack", 2), ("The heap", 3)]
    pages = [{"page_key": key, "headings": [{"level": level, "text": text} for text, level in levels]} for key in KEYS]

    def stored(*names: str):
        return judged(replace(index(lambda page, part: [names[part]]), pages=lambda: pages))

    assert stored("Ownership", "Ownership", "Summary")[0].details["share"] == 1.0
    assert stored("Ownership", "The stack", "The heap") == []
    assert stored("Ownership", "Ownership", "Another heading") == []


def test_texts_and_pages_are_read_only_where_headings_look_flat():
    found = index(lambda page, part: [f"Page {page}", f"Part {part}"])

    def no_texts(columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        assert "text" not in columns
        return found.batches(columns)

    assert judged(replace(found, batches=no_texts, pages=unread)) == []
