from __future__ import annotations

from datetime import UTC, datetime

from ragval_pipeline.validation.chunks.order import collect_order
from ragval_pipeline.validation.chunks.stale_tail import (
    find_tails,
    needed_points,
    stale_tail_findings,
)
from tests.validation.rows import named, rows

OLD, NEW, NEWER = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:04:00Z"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def page(url: str, *times: str | None, first: int = 0):
    return [
        {"source_url": url, "chunk_index": first + at, "embedded_at": time, "text": f"{url} {at}"}
        for at, time in enumerate(times)
    ]


def judged(*payloads, needed=None):
    tails, prove = find_tails(collect_order(rows(*payloads)), now=NOW)
    return named(stale_tail_findings(tails, needed=needed or {}, dates_prove=prove))


def test_the_old_end_of_a_page_is_named():
    assert judged(*page("/a", NEW, NEWER, NEW, OLD, OLD), *page("/b", NEW, NEW)) == ["3", "4"]


def test_pages_of_different_age_have_no_stale_tails():
    assert judged(*page("/a", NEW, NEW, NEWER), *page("/b", OLD, OLD)) == []


def test_an_ingestion_that_takes_minutes_leaves_no_stale_tail():
    assert judged(*page("/a", NEWER, NEWER, NEW)) == []


def test_chunks_without_dates_prove_nothing():
    assert judged(*page("/a", NEW, NEW, None)) == []


def test_where_old_chunks_stand_anywhere_only_changed_chunks_are_embedded_anew():
    mixed = [*page("/a", OLD, NEW, OLD), *page("/b", NEW, OLD, NEW), *page("/c", OLD, OLD, NEW)]
    assert judged(*mixed, *page("/d", NEW, OLD)) == []


def test_times_that_are_still_to_come_prove_nothing():
    assert judged(*page("/a", "2031-01-01T00:00:00Z", NEW, NEW), *page("/b", NEW, NEW)) == []


def test_of_points_with_one_index_the_newest_counts():
    twice = [*page("/a", OLD, OLD, OLD), *page("/a", NEW, NEW)]
    assert judged(*twice) == ["2"]


def test_a_chunk_that_its_page_still_needs_is_kept_whatever_its_date():
    tails, _ = find_tails(collect_order(rows(*page("/a", NEW, NEW, OLD, OLD))), now=NOW)
    texts = {
        "0": "how to start the arm and the gripper",
        "1": "how to stop both of them again",
        "2": "a last word about safety in the lab",
        "3": "this section was removed some months ago",
    }
    site = "how to start the arm and the gripper how to stop both of them again a last word about safety in the lab"
    assert needed_points(tails[0], texts, site) == {"2"}
    found = stale_tail_findings(tails, needed={tails[0].page: {"2"}}, dates_prove=False)
    assert named(found) == ["3"]


def test_a_tail_that_repeats_the_page_is_not_needed():
    tails, _ = find_tails(collect_order(rows(*page("/a", NEW, OLD))), now=NOW)
    same = "how to start the arm and the gripper"
    assert needed_points(tails[0], {"0": same, "1": same}, same) == set()
