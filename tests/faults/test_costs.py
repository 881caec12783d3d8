"""Foreign input whose cost must not grow faster than its length: each of these took minutes, or never ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.site.html.document import refresh_target
from ragval_pipeline.sources.site.html.page_text import page_texts
from ragval_pipeline.sources.site.page_copies.copies import record_of
from ragval_pipeline.sources.site.page_reader import PageCopy
from ragval_pipeline.sources.site.sitemap import reader as sitemap
from ragval_pipeline.sources.stores.qdrant.connect import open_client
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import QdrantSettings, RetrySettings
from ragval_pipeline.text.markup import markup_pieces, without_markup
from ragval_pipeline.text.printing import shown_url
from tests.support.qdrant_server import QdrantStandIn

#: Processor seconds that each row may take; where the cost grew with the square it was a hundred times as much.
SECONDS = 6.0
URL = "https://docs.example.com/a"


@dataclass(frozen=True)
class Cost:
    """What reads an input, and the input."""

    work: Callable[[str], Any]
    text: Callable[[], str]


def signals(html: str) -> Any:
    return refresh_target(html, base=URL)


def pieces(text: str) -> Any:
    return list(markup_pieces(text))


def whole_page(html: str) -> Any:
    return record_of(PageCopy(URL, html=html), URL)


ROWS = {
    "256,000 nested divs": Cost(whole_page, lambda: f"<body>{'<div>' * 256_000}end"),
    "256,000 nested divs with text": Cost(page_texts, lambda: f"<body>{'<div class=a>t' * 256_000}"),
    "100,000 nested spans": Cost(page_texts, lambda: f"<body>{'<span>t' * 100_000}"),
    "signals of 256,000 nested divs": Cost(signals, lambda: f"http-equiv{'<div>' * 256_000}"),
    "100,000 tags that never end": Cost(page_texts, lambda: "<b" * 100_000),
    "a tag whose name never ends": Cost(page_texts, lambda: f"{'<i>' * 600}<{'b' * 500_000}"),
    "unclosed comments of a page": Cost(page_texts, lambda: f"<body>{'<!--' * 500_000}"),
    "robots.txt of a million blank lines": Cost(sitemap._ROBOTS_LINE.findall, lambda: "\n" * 1_000_000),
    "robots.txt of blanks": Cost(sitemap._ROBOTS_LINE.findall, lambda: " " * 1_000_000),
    "a URL of a key said 100,000 times": Cost(shown_url, lambda: f"{URL}?{'key' * 100_000}"),
    "a URL of 200,000 question marks": Cost(shown_url, lambda: f"{URL}{'?' * 200_000}"),
    "unclosed comments of a chunk": Cost(without_markup, lambda: "<!--" * 250_000),
    "unclosed MDX comments of a chunk": Cost(without_markup, lambda: "{/*" * 250_000),
    "unclosed templates of a chunk": Cost(without_markup, lambda: "{%" * 250_000),
    "unclosed short codes of a chunk": Cost(without_markup, lambda: "{{<" * 250_000),
    "unclosed images of a chunk": Cost(without_markup, lambda: "![" * 100_000),
    "unclosed links of a chunk": Cost(without_markup, lambda: "](/a b " * 100_000),
    "an address of signs that never ends": Cost(without_markup, lambda: f"]({'#a.bc/,' * 100_000}"),
    "unclosed brackets of an address": Cost(without_markup, lambda: f"]({'a(b' * 100_000}"),
    "brackets of an address that a chunk cuts": Cost(without_markup, lambda: f"{'a(b)' * 100_000} a)"),
    "unclosed footnotes of a chunk": Cost(without_markup, lambda: "[^" * 100_000),
    "unclosed groups of RTF": Cost(pieces, lambda: r"\rtf1 \pard " + r"{\fonttbl {a" * 50_000),
    "long words that are no picture": Cost(pieces, lambda: "a" * 300_000),
    "addresses of data without data": Cost(pieces, lambda: "data:a/b" * 50_000 + ";base64,"),
}


@pytest.mark.parametrize("cost", ROWS.values(), ids=ROWS)
def test_a_long_input_costs_what_its_length_costs(cost: Cost) -> None:
    text = cost.text()
    started = time.process_time()
    cost.work(text)
    assert time.process_time() - started < SECONDS


def test_text_below_the_levels_that_are_parsed_is_still_the_pages() -> None:
    nested = "".join(f"<div>word{number}" for number in range(2000))
    body = page_texts(f"<body>{nested}{'</div>' * 2000}<p>last</p>").body
    assert body.split() == [*(f"word{number}" for number in range(2000)), "last"]


def test_unclosed_paragraphs_and_items_do_not_nest() -> None:
    page = page_texts("<body>" + "<p>a" * 2000 + "<ul>" + "<li>b" * 2000)
    assert len(page.blocks) == 4000


def test_the_secret_of_a_parameter_is_hidden_and_the_rest_is_shown() -> None:
    shown = shown_url("https://u:p@x.org/a?page=2&api_key=abc&X-Amz-Signature=d?e&q=key")
    assert shown == "https://x.org/a?page=2&api_key=...&X-Amz-Signature=...&q=key"


@pytest.mark.parametrize("what", ["pages", "vectors"])
def test_a_scroll_that_goes_round_in_a_circle_ends(what: str) -> None:
    with QdrantStandIn() as server:
        server.engine.create({"vectors": {"size": 2, "distance": "Cosine"}}, "docs")
        server.fail("circle", path="/scroll")
        with open_client(QdrantSettings(url=server.url, collection="docs")) as client:
            reader = CollectionReader(client, collection="docs", place="Qdrant", policy=RetrySettings(max=0))
            with pytest.raises(SystemFailure, match="the same page of points again"):
                list(reader.pages(None) if what == "pages" else reader.vectors())
        assert server.count("/scroll") <= 3
