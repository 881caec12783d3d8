from __future__ import annotations

from ragval_pipeline.validation.payload.flat_headings import (
    collect_headings,
    flat_heading_findings,
    may_be_flat,
    merge_headings,
)
from tests.validation.factory import absolute, site
from tests.validation.rows import named, rows

KEYS = [site().folder().key(absolute(f"/p{page}")) for page in range(4)]


def index(headings, *, text: str = "words", pages: int = 4, chunks: int = 3):
    return rows(
        *(
            {"source_url": f"/p{page}", "text": text, "headings": headings(page, part)}
            for page in range(pages)
            for part in range(chunks)
        )
    )


def judged(found, deeper=KEYS):
    return flat_heading_findings(collect_headings(found), field_name="headings", deeper_pages=deeper)


def test_one_heading_for_all_chunks_of_deeper_pages_is_flat():
    finding = judged(index(lambda page, part: [f"Page {page}"]))[0]
    assert named([finding]) == ["headings"]
    assert finding.details["share"] == 1.0


def test_plain_texts_are_judged_like_lists_of_one():
    assert len(judged(index(lambda page, part: f"Page {page}"))) == 1


def test_pages_without_deeper_headings_have_nothing_to_go_to():
    assert judged(index(lambda page, part: [f"Page {page}"]), deeper=()) == []


def test_markdown_in_the_chunks_shows_deeper_headings_where_pages_were_not_read():
    assert len(judged(index(lambda page, part: [f"Page {page}"], text="intro\n## Part\nwords"), deeper=())) == 1


def test_the_nearest_heading_alone_is_not_flat():
    assert judged(index(lambda page, part: [f"Part {part}"])) == []


def test_a_path_of_headings_is_not_flat():
    assert judged(index(lambda page, part: [f"Page {page}", f"Part {part}"])) == []


def test_pages_of_one_chunk_prove_nothing():
    found = index(lambda page, part: [f"Page {page}"], chunks=1)
    assert judged(found) == []
    assert not may_be_flat(collect_headings(found))


def test_merged_slices_say_what_the_whole_says():
    found = index(lambda page, part: [f"Page {page}"])
    merged = merge_headings([collect_headings(found[:5]), collect_headings(found[5:])])
    assert merged == collect_headings(found)
    assert may_be_flat(merged)
