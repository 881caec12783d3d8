"""What is fuzzed: everything that reads or writes text of strangers, each a function of one text.

``python -m tests.faults.targets NAME [FLAG ...]`` fuzzes one, guided by coverage, with libFuzzer's flags (``-runs=``).
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

GUIDED = __name__ == "__main__"
if GUIDED:
    import atheris

    instrumented: Any = atheris.instrument_imports(include=["ragval_pipeline"])
else:
    instrumented = contextlib.nullcontext()

with instrumented:
    from ragval_pipeline.errors import RagvalError
    from ragval_pipeline.reporting.document import run_document
    from ragval_pipeline.reporting.files.junit import junit_xml
    from ragval_pipeline.reporting.history.earlier import read_report
    from ragval_pipeline.reporting.json_values import json_bytes
    from ragval_pipeline.sources.history import REPORT, KeptRun
    from ragval_pipeline.sources.http.addresses import host_of, is_loopback_or_private
    from ragval_pipeline.sources.site.html.document import asks_not_to_be_indexed, decode_html, refresh_target
    from ragval_pipeline.sources.site.html.page_text import page_texts
    from ragval_pipeline.sources.site.sitemap.file import parse_sitemap, unpacked
    from ragval_pipeline.sources.site.urls import UrlFolder, path_of
    from ragval_pipeline.suite.load import load_suite, resolve_suite
    from ragval_pipeline.suite.queries.files import read_entries
    from ragval_pipeline.text.markup import without_markup
    from ragval_pipeline.text.printing import shown_url
    from ragval_pipeline.text.trec_ids import decode_id, encode_id
    from ragval_pipeline.validation.facts.align import align
    from ragval_pipeline.validation.facts.page import Searched
    from tests.reporting import factory

FOLDER = UrlFolder(host_aliases=("docs.example.com",))
ENDINGS = ("yaml", "json", "jsonl", "csv", "tsv")


def as_utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def url(text: str) -> None:
    address = f"https://docs.example.com/{text}"
    for one in (text, address):
        assert FOLDER.key(FOLDER.key(one)) == FOLDER.key(one), "folding twice is folding once"
        host_of(one), path_of(one), shown_url(one), is_loopback_or_private(one)


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


def suite(text: str) -> None:
    resolve_suite(load_suite(_file("suite.yaml", text)), {})


def queries(text: str) -> None:
    for ending in ENDINGS:
        declared(read_entries, _file(f"queries.{ending}", text))


def report_reader(text: str) -> None:
    read_report(KeptRun(_file(f"20261101T000000Z-deadbeef/{REPORT}", text).parent))  # type: ignore[arg-type]


def report_writer(text: str) -> None:
    bundle = factory.hostile([text[start::10] for start in range(10)])
    json.loads(json_bytes(bundle.report))
    ET.fromstring(junit_xml(run_document(bundle.report)))
    factory.report_html(bundle)
    assert decode_id(encode_id(text)) == text


@cache
def _place() -> Path:
    return Path(tempfile.mkdtemp(prefix="ragval-fuzz-"))


def _file(name: str, text: str) -> Path:
    file = _place() / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(as_utf8(text))
    return file


TARGETS: dict[str, Callable[[str], Any]] = {
    "page": page,
    "URL": url,
    "sitemap": sitemap,
    "markup": without_markup,
    "alignment": alignment,
    "suite": suite,
    "queries": queries,
    "report reader": report_reader,
    "report writer": report_writer,
}


def declared(work: Callable[..., Any], *arguments: Any) -> None:
    """Let nothing but a declared error out of ``work``."""
    with contextlib.suppress(RagvalError):
        work(*arguments)


def main(name: str, flags: list[str]) -> None:
    """Run a target on what libFuzzer makes until its flags say so, or until something undeclared comes out."""
    target = TARGETS[name]
    atheris.Setup([sys.argv[0], *flags], lambda data: declared(target, data.decode("utf-8", "replace")))
    atheris.Fuzz()


if GUIDED:
    main(sys.argv[1], sys.argv[2:])
