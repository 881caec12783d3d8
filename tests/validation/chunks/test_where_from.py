"""From which page a text is that stands under another address or none."""

from __future__ import annotations

import pyarrow as pa

from ragval_pipeline.validation.chunks.holding import pages_holding


def page(key: str, *anchors: int) -> pa.RecordBatch:
    kinds = [pa.array([key]), pa.array([anchors], pa.list_(pa.uint64()))]
    return pa.record_batch(kinds, names=["page_key", "anchors"])


def test_a_page_that_shares_a_passage_with_a_text_is_not_where_it_is_from():
    shares, source = page("shares", 3, 4, 5), page("source", 1, 2, 3, 4)
    for pages in ([shares, source], [source, shares]):
        assert pages_holding({"text": (1, 2, 3, 4)}, pages) == {"text": ["source"]}


def test_pages_that_hold_a_text_alike_are_all_named_and_less_than_half_of_it_is_nothing():
    pages = [page("one", 1, 2, 3), page("two", 3, 2, 1), page("other", 9)]
    assert pages_holding({"text": (1, 2, 3), "stray": (9, 8, 7)}, pages) == {"text": ["one", "two"]}
