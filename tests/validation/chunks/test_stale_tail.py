from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from ragval_pipeline.validation.chunks.order import PageOrder
from ragval_pipeline.validation.chunks.stale_tail import find_tails, leftover
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, paragraphs, record
from tests.validation.rows import detected, evidence_of, named, rows

OLD, NEW, NEWER = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:04:00Z"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def page(url: str, *times: str | None, first: int = 0):
    return [
        {"source_url": url, "chunk_index": first + at, "embedded_at": time, "text": f"{url} {at}"}
        for at, time in enumerate(times)
    ]


def judged(*payloads):
    return named(detected("chunk.stale_tail", evidence_of(rows(*payloads), now=NOW)))


def test_the_old_end_of_a_page_is_named():
    assert judged(*page("/a", NEW, NEWER, NEW, OLD, OLD), *page("/b", NEW, NEW)) == ["3", "4"]


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param([*page("/a", NEW, NEW, NEWER), *page("/b", OLD, OLD)], id="pages of different age"),
        pytest.param(page("/a", NEWER, NEWER, NEW), id="an ingestion that takes minutes"),
        pytest.param(page("/a", NEW, NEW, None), id="a chunk without a date"),
        pytest.param([*page("/a", "2031-01-01T00:00:00Z", NEW, NEW), *page("/b", NEW, NEW)], id="a time to come"),
    ],
)
def test_dates_that_prove_nothing_name_no_stale_tail(stored):
    assert judged(*stored) == []


def test_old_chunks_anywhere_show_that_only_changed_chunks_are_embedded_again():
    mixed = [*page("/a", OLD, NEW, OLD), *page("/b", NEW, OLD, NEW), *page("/c", OLD, OLD, NEW)]
    assert judged(*mixed, *page("/d", NEW, OLD)) == []


def test_of_points_with_one_index_the_newest_counts():
    twice = [*page("/a", OLD, OLD, OLD), *page("/a", NEW, NEW)]
    assert judged(*twice) == ["2"]


def test_a_page_of_many_chunks_costs_what_their_number_costs():
    """A collection that keeps one address for all of a manual has one page of tens of thousands of chunks."""
    dates = [NEW] * 15_000 + [OLD] * 5_000
    begun = time.process_time()
    manual = PageOrder("/a", {index: [(str(index), date)] for index, date in enumerate(dates)})
    [tail], proves = find_tails({"/a": manual}, now=NOW)
    assert (tail.first, len(tail.points), len(tail.head), proves) == (15_000, 5_000, 15_000, True)
    assert time.process_time() - begun < 3


def on_page(content: list[str], *payloads):
    """The findings of page ``/a`` with this content."""
    evidence = evidence_of(rows(*payloads), [record(paragraphs(*content))], now=NOW)
    return named(detected("chunk.stale_tail", evidence))


def test_a_chunk_that_its_page_still_needs_is_kept_whatever_its_date():
    stored = page("/a", NEW, NEW, OLD, OLD)
    for payload, text in zip(stored, (GRIPPER, CAMERA, BATTERY, VISITORS), strict=True):
        payload["text"] = text
    assert on_page([GRIPPER, CAMERA, BATTERY], *stored) == ["3"]


def test_a_last_chunk_whose_text_was_lost_is_not_known_to_be_left_over():
    stored = page("/a", NEW, NEW, OLD)
    for payload, text in zip(stored, (GRIPPER, CAMERA, " "), strict=True):
        payload["text"] = text
    assert on_page([GRIPPER, CAMERA, BATTERY], *stored) == []


def test_a_tail_that_repeats_the_page_is_not_needed():
    stored = [{**payload, "text": GRIPPER} for payload in page("/a", NEW, OLD)]
    assert on_page([GRIPPER], *stored) == ["1"]


def test_a_short_last_chunk_that_mostly_overlaps_is_needed_for_the_passage_that_it_alone_has():
    words = f"{GRIPPER} {CAMERA}".split()
    end = len(words) - 10
    texts = (" ".join(words[:end]), " ".join(words[end - 16 :]))
    stored = [{**payload, "text": text} for payload, text in zip(page("/a", NEW, OLD), texts, strict=True)]
    assert on_page([GRIPPER, CAMERA], *stored) == []


PARTS = [GRIPPER, CAMERA, BATTERY]


def leftovers(chunks: list[str], content: list[str]) -> set[int]:
    stored = rows(*({"source_url": "/a", "chunk_index": at, "text": text} for at, text in enumerate(chunks)))
    evidence = evidence_of(stored, [record(paragraphs(*content))])
    [key] = keys = evidence.orders.keys
    [(_, own)], last = evidence.on_pages(keys), evidence.last_passages(keys)[key]
    left = leftover(evidence.orders.in_full(keys)[key], own, last, evidence.compared.class_of)
    return set(left.indices) if left.has_gone or left.ends_the_page else set()


@pytest.mark.parametrize(
    ("chunks", "content", "left"),
    [
        pytest.param(PARTS, PARTS[:2], {2}, id="what follows the end of a shorter page"),
        pytest.param(PARTS, PARTS[:1], {1, 2}, id="all that follows the end of a shorter page"),
        pytest.param(PARTS, PARTS, set(), id="a whole page"),
        pytest.param(
            [GRIPPER, f"{CAMERA} Some words that the page had there", BATTERY, VISITORS],
            PARTS[:2], {2, 3}, id="the chunk in which the shortened page ends is not left over",
        ),
        pytest.param([*PARTS[:2], VISITORS], PARTS, set(), id="a last chunk with another page's text"),
        pytest.param([GRIPPER, VISITORS, BATTERY], [GRIPPER, BATTERY], set(), id="a chunk gone from the middle"),
        pytest.param(PARTS, [VISITORS], set(), id="a page that changed as a whole"),
        pytest.param([*PARTS, "Unknown words here"], PARTS, set(), id="a last chunk of a few words"),
    ],
)  # fmt: skip
def test_chunks_without_dates_behind_the_end_of_their_page_are_left_over(chunks, content, left):
    assert leftovers(chunks, content) == left


def test_a_chunk_of_the_end_that_says_most_of_what_the_page_says_before_is_left_over_with_it():
    middle = GRIPPER.rindex(" ", 0, len(GRIPPER) * 3 // 4)
    again = f"{GRIPPER[:middle]} unlike anything that came before"
    assert leftovers([GRIPPER, CAMERA, BATTERY, again, VISITORS], [GRIPPER, CAMERA]) == {2, 3, 4}
    assert leftovers([GRIPPER, CAMERA, BATTERY, again, VISITORS], [GRIPPER, CAMERA, BATTERY, VISITORS]) == set()


def test_what_is_put_before_every_chunk_says_nothing_of_the_page():
    framed = [f"Handbook of halls, part nine of ten, printed in May\n{text}" for text in (*PARTS, VISITORS)]
    assert leftovers(framed, [*PARTS, VISITORS]) == set()
    assert leftovers(framed, PARTS) == {3}


def test_chunks_that_are_mostly_what_the_ingestion_adds_are_needed_all_the_same():
    added = f"{VISITORS} {VISITORS.replace('helmets', 'jackets')} Handbook, part nine, of the hall in the north:"
    framed = [f"{added}\n{text}" for text in PARTS]
    assert leftovers(framed, PARTS) == set()
    assert leftovers(framed[:1], PARTS[:1]) == set()


def test_a_text_whose_words_meet_the_page_by_chance_at_one_place_is_left_over():
    words = PARTS[2].split()
    mixed = " ".join([*words[::-1], *words[-7:-1], *words[::-2]])
    assert leftovers([*PARTS, mixed], PARTS) == {3}


def test_only_pages_without_dates_are_judged_by_their_text_alone():
    stored = [{**payload, "text": text} for payload, text in zip(page("/a", NEW, NEW, NEW), PARTS, strict=True)]
    assert on_page(PARTS[:2], *stored) == []
    assert on_page(PARTS[:2], *stored[:2], {**stored[2], "embedded_at": None}) == ["2"]


def test_a_text_of_another_page_is_no_leftover_of_the_page_that_it_is_stored_under():
    stored = [{**payload, "text": text} for payload, text in zip(page("/a", NEW, NEW, OLD), PARTS, strict=True)]
    pages = [record(paragraphs(*PARTS[:2])), record(paragraphs(PARTS[2]), page="/b")]
    assert named(detected("chunk.stale_tail", evidence_of(rows(*stored), pages[:1], now=NOW))) == ["2"]
    assert named(detected("chunk.stale_tail", evidence_of(rows(*stored), pages, now=NOW))) == []


def test_closing_words_that_another_page_has_too_are_left_over_with_the_end_that_they_close():
    stored = [{**payload, "text": text} for payload, text in zip(page("/a", NEW, OLD, OLD), PARTS, strict=True)]
    pages = [record(paragraphs(PARTS[0])), record(paragraphs(PARTS[2]), page="/b")]
    assert named(detected("chunk.stale_tail", evidence_of(rows(*stored), pages, now=NOW))) == ["1", "2"]


SHELF = "The shelf holds twelve trays, and each tray has a colour that the drawing beside the door explains in words."
DRAWING = "Drawings hang in order of their date; whoever changes one signs it and hangs the former one behind it again."
WHOLE = [*PARTS, VISITORS, SHELF, DRAWING]


def joined(texts: list[str], size: int) -> list[str]:
    return ["\n".join(texts[at : at + size]) for at in range(0, len(texts), size)]


SHORTER = [*WHOLE[:2], *WHOLE[4:]]


@pytest.mark.parametrize(
    ("chunks", "content", "left"),
    [
        pytest.param([*joined(WHOLE, 2), *WHOLE[3:]], WHOLE, {3, 4, 5}, id="smaller chunks behind larger ones"),
        pytest.param([*SHORTER, *WHOLE[4:]], SHORTER, {4, 5}, id="the end of a page that lost its middle"),
        pytest.param([*WHOLE, *WHOLE], WHOLE, set(), id="a second ingestion with further numbers"),
        pytest.param([*joined(WHOLE, 2), *WHOLE], WHOLE, set(), id="a second ingestion in smaller chunks"),
        pytest.param([*WHOLE, WHOLE[2]], WHOLE, set(), id="a copy of a chunk"),
        pytest.param([*WHOLE, WHOLE[5], WHOLE[2]], WHOLE, set(), id="copies of chunks in another order"),
        pytest.param([*WHOLE, WHOLE[2], WHOLE[5]], WHOLE, set(), id="copies of chunks that do not adjoin"),
        pytest.param([*WHOLE[3:], *WHOLE[:3]], WHOLE, set(), id="chunks counted from another section"),
    ],
)
def test_chunks_that_go_back_behind_the_end_of_their_page_are_left_over_unless_they_are_all_of_it(
    chunks, content, left
):
    assert leftovers(chunks, content) == left


def test_windows_that_end_within_the_one_before_are_no_tail():
    text = "\n".join(WHOLE)
    windows = [text[at : at + 160] for at in range(0, len(text), 40)]
    assert leftovers(windows, WHOLE) == set()
    assert leftovers(
        [*windows, f"{'Nothing of it stands on the page any more, not even these words. ' * 2}"], WHOLE
    ) == {len(windows)}


def test_pages_without_dates_whose_last_chunks_go_back_are_named():
    stored = [
        {**payload, "text": text}
        for payload, text in zip(page("/a", *[None] * 6), [*joined(WHOLE, 2), *WHOLE[3:]], strict=True)
    ]
    assert on_page(WHOLE, *stored) == ["3", "4", "5"]


def test_copies_of_last_chunks_among_copies_of_others_are_left_over_from_no_older_page():
    pages = {f"/{number}": [f"{text} Hall {number} keeps it so." for text in WHOLE] for number in range(3)}
    read = [record(paragraphs(*texts), page=name) for name, texts in pages.items()]

    def judge(*copied):
        stored = [
            {"source_url": name, "chunk_index": at, "text": text}
            for (name, texts), copy in zip(pages.items(), copied, strict=True)
            for at, text in enumerate([*texts, *texts[copy:][:2]])
        ]
        return named(detected("chunk.stale_tail", evidence_of(rows(*stored, pages=tuple(pages)), read, now=NOW)))

    assert judge(4, 4, 4) == ["14", "15", "22", "23", "6", "7"]
    assert judge(4, 4, 2) == ["14", "15", "6", "7"]
    assert judge(4, 3, 2) == []


def test_what_most_pages_end_with_was_made_by_the_ingestion():
    """A summary behind the chunks of each page, without dates."""
    pages, ends = PARTS, (VISITORS, SHELF, DRAWING)
    stored = [
        {"source_url": f"/{number}", "chunk_index": at, "text": text}
        for number, texts in enumerate(zip(pages, ends, strict=True))
        for at, text in enumerate(texts)
    ]
    names = tuple(f"/{number}" for number in range(3))
    read = [record(paragraphs(text), page=name) for name, text in zip(names, pages, strict=True)]

    def judge(payloads):
        return named(detected("chunk.stale_tail", evidence_of(rows(*payloads, pages=names), read, now=NOW)))

    assert judge(stored) == []
    assert judge(stored[:2]) == judge([*stored[:3], stored[4]]) == ["1"]


def test_children_that_were_embedded_before_their_parents_are_no_old_end():
    """Their parents have all of their text, by design."""
    parents = [
        {"text": f"{one}\n{two}", "chunk_index": at, "embedded_at": NEW, "chunk_id": f"p{at}"}
        for at, (one, two) in enumerate([(GRIPPER, CAMERA), (BATTERY, VISITORS)])
    ]
    children = [
        {"text": text, "chunk_index": 2 + at, "embedded_at": OLD, "chunk_id": f"c{at}", "parent_id": f"p{at // 2}"}
        for at, text in enumerate([GRIPPER, CAMERA, BATTERY, VISITORS])
    ]
    stored = [{"source_url": "/a", **payload} for payload in (*parents, *children)]
    assert on_page([GRIPPER, CAMERA, BATTERY, VISITORS], *stored) == []
    unnamed = [{name: value for name, value in payload.items() if name != "parent_id"} for payload in stored]
    assert on_page([GRIPPER, CAMERA, BATTERY, VISITORS], *unnamed) == [], "also if no field names them"


def test_pages_that_are_stored_under_the_address_of_another_are_no_old_end_of_it():
    texts = (GRIPPER, CAMERA, BATTERY, "See also the shelf")
    stored = [
        {"source_url": "/a", "text": text, "chunk_index": at, "embedded_at": NEW if at == 0 else OLD}
        for at, text in enumerate(texts)
    ]
    pages = [record(paragraphs(GRIPPER)), record(paragraphs(CAMERA, BATTERY, texts[3]), page="/b")]
    assert named(detected("chunk.stale_tail", evidence_of(rows(*stored, pages=("/a", "/b")), pages, now=NOW))) == []
