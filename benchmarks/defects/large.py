"""A corpus of many chunks for measuring cost: the handbook in several languages that nobody speaks."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from benchmarks.defects.generated import corpus_of
from benchmarks.defects.world.pages import Page, handbook
from ragval_pipeline.demo.workspace import QUERIES_FILE, SITE, SUITE_FILE
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.store import Entry, Site

_WORD = re.compile(r"[A-Za-z]{2,}")


def write_large(folder: Path, url: str, *, chunks: int, upsert: Callable[[list[dict[str, Any]]], object]) -> int:
    """Ingest at least ``chunks`` chunks, an edition at a time, as only one fits into memory.

    Args:
        folder: Where site, golden set, which asks the first edition, and suite file go.
        url: The server of the collection.
        chunks: Points at least.
        upsert: Stores the points of an edition, as Qdrant's REST interface takes them.

    Returns:
        How many points there are.
    """
    entries: list[Entry] = []
    points = 0
    for corpus in _editions(folder, chunks):
        entries += corpus.site.entries
        if not points:
            settings = {**corpus.settings, "qdrant": {"url": url, "collection": corpus.collection}}
            settings["source"] |= {"max_pages": None}  # pages left out would leave strays
            _write(folder, {SUITE_FILE: _yaml(settings), QUERIES_FILE: _yaml(corpus.queries)})
        _write(folder / SITE, corpus.site.files)
        upsert([{"id": point.id, "payload": point.payload, "vector": point.vector} for point in corpus.points])
        points += len(corpus.points)
    site = Site()
    site.set_entries(entries)
    _write(folder / SITE, site.files)
    return points


def _editions(folder: Path, chunks: int) -> Iterator[Corpus]:
    pages = handbook()
    first = corpus_of(folder, pages)
    yield first
    again = sum(len(first.pages()[page.url]) for page in pages if page.lang == "en")
    for number in range(1, 1 + -(-max(0, chunks - len(first.points)) // again)):
        yield corpus_of(folder, edition(pages, number), asked=False)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _yaml(content: Any) -> str:
    return yaml.safe_dump(content, allow_unicode=True, sort_keys=False)


def edition(pages: Sequence[Page], number: int) -> list[Page]:
    """The English pages with their words exchanged; edition 0 is the handbook as it is."""
    if not number:
        return list(pages)
    words = sorted({word.lower() for page in pages for word in _WORD.findall(page.markdown)})
    others = random.Random(f"edition {number}").sample(words, len(words))
    exchange = dict(zip(words, others, strict=True))
    return [
        replace(
            page,
            path=f"edition-{number}-{page.path}",
            title=_exchanged(page.title, exchange),
            markdown=_exchanged(page.markdown, exchange),
        )
        for page in pages
        if page.lang == "en"
    ]


def _exchanged(text: str, exchange: Mapping[str, str]) -> str:
    def other(match: re.Match[str]) -> str:
        word = exchange[match[0].lower()] if match[0].lower() in exchange else match[0]
        return word.capitalize() if match[0][0].isupper() else word

    return _WORD.sub(other, text)
