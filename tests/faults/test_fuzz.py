"""Input that nobody would write: a declared error or a result, at a cost that grows with the length."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.history.kept_runs import REPORT, KeptRun
from ragval_pipeline.sources.site.html.page_text import page_texts
from ragval_pipeline.sources.site.html.signals import asks_not_to_be_indexed, decode_html, refresh_target
from ragval_pipeline.sources.site.sitemap.content import unpacked
from ragval_pipeline.sources.site.sitemap.xml import parse_sitemap
from ragval_pipeline.sources.site.urls import UrlFolder, host_of, is_loopback_or_private, path_of, without_userinfo
from ragval_pipeline.suite.load import load_suite, resolve_suite
from ragval_pipeline.suite.queries.files import read_entries
from ragval_pipeline.text.markup import without_markup
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.page import Searched

Factory = pytest.TempPathFactory
#: Marks that mean something to one of the readers, and letters of every width.
HTML = r"<div> </div> <p> <!-- --> <script> <![CDATA[ ]]> &amp; &#x0; <loc> </loc> <url> <urlset> <b <a/"
ADDRESSES = r"http:// https:// :// ? & = % %2e /../ # @ www. :80 [::1] xn-- ;"
TEXT = (
    r"[ ] { } ( ) : , | > ! - ~ * ** ` ``` {{ {% %} ${ } ${A:-b} &a *a !!x ' \ a b word 1 0.5 true null suite: query: -"
)
ODD = ["\x00", "\x1b", "\u202e", "\u200b", "\ud800", "\U0001f600", "\u00e9", '"', " ", "\n", "\t", "\r\n"]
MARKS = st.sampled_from([*f"{HTML} {ADDRESSES} {TEXT}".split(), *ODD])
TEXTS = st.lists(MARKS | st.text(max_size=4), max_size=60).map("".join)
MOTIFS = st.lists(MARKS, min_size=1, max_size=4).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYS = [
    "suite",
    "report_uri",
    "qdrant",
    "source",
    "payload",
    "embedding",
    "queries",
    "retrieval",
    "criteria",
    "severity",
    "retry",
    "history",
]
FUZZED = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
FOLDER = UrlFolder(host_aliases=("docs.example.com",))


def as_utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def url(text: str) -> None:
    address = f"https://docs.example.com/{text}"
    for one in (text, address):
        assert FOLDER.key(FOLDER.key(one)) == FOLDER.key(one), "folding twice is folding once"
        host_of(one), path_of(one), without_userinfo(one), is_loopback_or_private(one)


def page(text: str) -> None:
    html = decode_html(as_utf8(text), content_type="text/html")
    page_texts(html)
    refresh_target(html, base="https://docs.example.com/a")
    asks_not_to_be_indexed(html, header=text.replace("\n", " "))


def sitemap(text: str) -> None:
    parse_sitemap(unpacked(as_utf8(text), location="x"), location="x", max_entries=10_000)


def alignment(text: str) -> None:
    found = align(text, Searched(f"{text[: len(text) // 2]} other words {text[len(text) // 3 :]}"))
    assert 0 <= found.share <= 1


READERS: dict[str, Callable[[str], Any]] = {
    "page": page,
    "URL": url,
    "sitemap": sitemap,
    "markup": without_markup,
    "alignment": alignment,
}
#: What alignment costs is tested with pages and chunks of its own: tests/validation/facts/test_growth.py.
COSTED = {name: read for name, read in READERS.items() if name != "alignment"}


def declared(work: Callable[..., Any], *arguments: Any) -> None:
    """Let nothing but a declared error out of ``work``."""
    with contextlib.suppress(RagvalError):
        work(*arguments)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@FUZZED
@given(text=TEXTS)
def test_foreign_text_is_read_or_refused(read: Callable[[str], Any], text: str) -> None:
    declared(read, text)


@pytest.mark.parametrize("read", COSTED.values(), ids=COSTED)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(motif=MOTIFS, start=MOTIFS)
def test_eight_times_the_text_costs_about_eight_times_as_much(
    read: Callable[[str], Any], motif: str, start: str
) -> None:
    """A quadratic cost is 64 times as much; what takes milliseconds is left to noise."""
    costs = []
    for times in (500, 4_000):
        text = f"{start}{motif * times}"
        started = time.process_time()
        declared(read, text)
        costs.append(time.process_time() - started)
    assert costs[1] < max(0.5, 30 * costs[0]), (motif, costs)


@FUZZED
@given(text=TEXTS, sections=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_any_suite_file_is_loaded_or_refused(tmp_path_factory: Factory, text: str, sections: Any) -> None:
    folder = tmp_path_factory.mktemp("suite")
    written = {"suite": "a", "qdrant": {"path": "q", "collection": "c"}, **sections}
    for number, content in enumerate((as_utf8(text), json.dumps(written).encode("utf-8", "replace"))):
        file = folder / f"{number}.yaml"
        file.write_bytes(content)
        declared(lambda file=file: resolve_suite(load_suite(file), {}))


@pytest.mark.parametrize("ending", ["yaml", "json", "jsonl", "csv", "tsv"])
@FUZZED
@given(text=TEXTS, value=JSON)
def test_any_query_file_is_read_or_refused(tmp_path_factory: Factory, ending: str, text: str, value: Any) -> None:
    folder = tmp_path_factory.mktemp("queries")
    for number, content in enumerate((as_utf8(text), json.dumps([value]).encode("utf-8", "replace"))):
        file = folder / f"{number}.{ending}"
        file.write_bytes(content)
        declared(read_entries, file)


@FUZZED
@given(content=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode("utf-8", "replace")))
def test_any_report_of_an_earlier_run_is_read_or_refused(tmp_path_factory: Factory, content: bytes) -> None:
    folder: Path = tmp_path_factory.mktemp("history") / "20261101T000000Z-deadbeef"
    folder.mkdir()
    (folder / REPORT).write_bytes(content)
    declared(read_report, KeptRun(folder))  # type: ignore[arg-type]
