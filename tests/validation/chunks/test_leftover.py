from __future__ import annotations

from ragval_pipeline.validation.chunks.leftover import leftover_indices, undated_pages
from ragval_pipeline.validation.chunks.order import collect_order
from tests.validation.rows import rows

PARTS = [
    "The gripper closes until the motor draws more than two amperes, then it holds the part without pressing harder.",
    "Calibrate the camera once a week with the printed board, and after every collision of the arm with the table.",
    "Charge the battery in the cabinet overnight and write the hour into the book that hangs beside the door.",
]
OTHER = "Visitors wear the yellow helmets from the shelf at the entrance and stay behind the painted line on the floor."


def leftovers(chunks: list[str], page: list[str], *, furniture: str = "Edit this page") -> set[int]:
    stored = rows(*({"source_url": "/a", "chunk_index": at, "text": text} for at, text in enumerate(chunks)))
    order = next(iter(collect_order(stored).values()))
    main = "\n".join(page)
    texts = {row["point_id"]: row["text"] for row in stored}
    return leftover_indices(order, texts, main=main, body=f"{main}\n{furniture}")


def test_what_follows_the_end_of_a_shorter_page_is_left_over():
    assert leftovers(PARTS, PARTS[:2]) == {2}
    assert leftovers(PARTS, PARTS[:1]) == {1, 2}


def test_a_page_that_has_all_its_chunks_has_no_leftovers():
    assert leftovers(PARTS, PARTS) == set()


def test_a_last_chunk_with_another_pages_text_is_no_leftover():
    assert leftovers([*PARTS[:2], OTHER], PARTS) == set()


def test_a_chunk_that_is_gone_from_the_middle_is_no_tail():
    assert leftovers([PARTS[0], OTHER, PARTS[2]], [PARTS[0], PARTS[2]]) == set()


def test_a_page_that_changed_as_a_whole_is_not_judged():
    assert leftovers(PARTS, [OTHER]) == set()


def test_only_pages_without_dates_are_judged_so():
    dated = [{"source_url": "/a", "chunk_index": at, "text": "x", "embedded_at": "2026-01-01"} for at in range(2)]
    plain = [
        {"source_url": page, "chunk_index": at, "text": "x"}
        for page, many in (("/b", 2), ("/c", 1))
        for at in range(many)
    ]
    pages = collect_order(rows(*dated, *plain))
    assert [page.url for page in undated_pages(pages).values()] == ["https://docs.example.com/b"]


def test_a_page_of_which_some_chunk_has_no_date_has_no_order_of_dates_either():
    chunks = [{"source_url": "/a", "chunk_index": at, "text": str(at), "embedded_at": "2026-11-01"} for at in range(3)]
    assert undated_pages(collect_order(rows(*chunks))) == {}
    assert len(undated_pages(collect_order(rows(*chunks[:2], {**chunks[2], "embedded_at": None})))) == 1


def test_what_is_put_before_every_chunk_says_nothing_of_the_page():
    framed = [f"Handbook of halls, part nine of ten, printed in May\n{text}" for text in PARTS]
    assert leftovers(framed, PARTS) == set()
    assert leftovers(framed, PARTS[:2]) == {2}


def test_a_last_chunk_of_a_few_words_is_not_judged():
    assert leftovers([*PARTS, "Unknown words here"], PARTS) == set()
