"""From which page a text is that stands under another address or none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ragval_pipeline.validation.integrity.content import pages_holding


def page(key: str, *anchors: int) -> Any:
    return SimpleNamespace(page_key=key, anchors=anchors)


def test_a_page_that_shares_a_passage_with_a_text_is_not_where_it_is_from():
    shares, source = page("shares", 3, 4, 5), page("source", 1, 2, 3, 4)
    for pages in ([shares, source], [source, shares]):
        assert pages_holding({"text": (1, 2, 3, 4)}, pages) == {"text": ["source"]}


def test_pages_that_hold_a_text_alike_are_all_named_and_less_than_half_of_it_is_nothing():
    pages = [page("one", 1, 2, 3), page("two", 3, 2, 1), page("other", 9)]
    assert pages_holding({"text": (1, 2, 3), "stray": (9, 8, 7)}, pages) == {"text": ["one", "two"]}
