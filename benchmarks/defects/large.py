"""A corpus of many chunks for measuring cost: the handbook in several languages that nobody speaks."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.defects.generated import corpus_of
from benchmarks.defects.world.pages import Page, handbook
from ragval_pipeline.testing.defects.corpus import Corpus

_WORD = re.compile(r"[A-Za-z]{2,}")


def large_corpus(folder: Path, *, chunks: int) -> Corpus:
    """A corpus of at least ``chunks`` chunks that will live in ``folder``; the golden set asks the first edition."""
    pages = handbook()
    first = corpus_of(folder, pages)
    again = sum(len(first.pages()[page.url]) for page in pages if page.lang == "en")
    editions = 1 + max(0, -(-(chunks - len(first.points)) // again))
    every = [page for number in range(editions) for page in edition(pages, number)]
    corpus = corpus_of(folder, every, asked=False)
    corpus.queries = first.queries
    corpus.settings["source"]["max_pages"] = None  # pages left out would leave strays
    return corpus


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
