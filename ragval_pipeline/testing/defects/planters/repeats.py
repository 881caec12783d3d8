"""Defects of repetition: the same text twice, nearly the same text, and chunks of a page's past."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Collection
from html import escape

from ragval_pipeline.testing.defects.choose import choose_pages, choose_points
from ragval_pipeline.testing.defects.copies import add_copies
from ragval_pipeline.testing.defects.corpus import Corpus, StoredPoint
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.testing.defects.rewrite import rewrite

#: Words that two changed ones must leave nearly the same.
_MIN_WORDS = 45
#: Words of a text that is another one when they are shuffled.
_SHUFFLED_WORDS = 20
_CHANGED = ("Quartz", "Marigold")


@defect("chunk.duplicate_text", kind="points", describe="Stores a chunk a second time, as the last of its page.")
def duplicate_text(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    # A page of which every chunk is stored twice was ingested twice.
    once = {page[0].id for page in corpus.pages().values() if len(page) > 1}
    points = choose_points(corpus, amount, rng, suits=lambda point: point.id not in once)
    copies = []
    for point in points:
        page = corpus.pages()[corpus.get(point, "source_url")]
        copies += add_copies(corpus, [point], salt="twice", chunk_index=len(page))
    subjects = frozenset(str(point.id) for point in (*points, *copies))
    return Planted("chunk.duplicate_text", subjects)


@defect(
    "chunk.near_duplicate",
    kind="points",
    describe="Puts a chunk with two words changed on another page, on the site and in the index.",
)
def near_duplicate(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    points = choose_points(corpus, amount, rng, suits=lambda point: len(corpus.text(point).split()) >= _MIN_WORDS)
    scope = frozenset(corpus.scope_urls)
    copies = [_put_on_another_page(corpus, point, scope, rng) for point in points]
    return Planted("chunk.near_duplicate", frozenset(str(point.id) for point in (*points, *copies)))


@defect("chunk.stale_tail", kind="points", describe="Appends a chunk of a page's older, longer version to its points.")
def stale_tail(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    return _append_old_chunks(corpus, amount, rng)


@defect(
    "chunk.stale_tail",
    kind="points",
    variant="undated",
    describe="The same in a collection that stores no times of embedding.",
)
def undated_tail(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    planted = _append_old_chunks(corpus, amount, rng)
    for point in corpus.points:
        corpus.drop(point, "embedded_at")
    return planted


def _append_old_chunks(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, min_chunks=2)
    indexed, old = corpus.pages(), []
    for url in pages:
        last = indexed[url][-1]
        embedded = dt.datetime.fromisoformat(corpus.get(last, "embedded_at")) - dt.timedelta(days=30)
        old += add_copies(
            corpus, [last], salt="old", chunk_index=len(indexed[url]), embedded_at=f"{embedded:%Y-%m-%dT%H:%M:%SZ}"
        )
    rewrite(corpus, [(point, _shuffled(corpus.text(point), rng)) for point in old])
    return Planted("chunk.stale_tail", frozenset(str(point.id) for point in old))


def _put_on_another_page(corpus: Corpus, point: StoredPoint, scope: Collection[str], rng: random.Random) -> StoredPoint:
    """A copy with two words changed, as the last chunk of another page of the site."""
    pages = corpus.pages()
    own = corpus.get(point, "source_url")
    target = rng.choice([url for url in sorted(pages) if url != own and url in scope])
    text = _with_two_words_changed(corpus.text(point))
    (copy,) = add_copies(corpus, pages[target][-1:], salt=f"near {point.id}", chunk_index=len(pages[target]))
    rewrite(corpus, [(copy, text)])
    corpus.site.append(target, "".join(f"<p>{escape(line)}</p>\n" for line in text.splitlines()))
    return copy


def _with_two_words_changed(text: str) -> str:
    """The words at a third and at two thirds of the text replaced; lines stay lines."""
    lines = [line.split(" ") for line in text.splitlines()]
    places = [(row, column) for row, line in enumerate(lines) for column, word in enumerate(line) if word.isalpha()]
    for number, word in enumerate(_CHANGED, 1):
        row, column = places[number * len(places) // 3]
        lines[row][column] = word
    return "\n".join(" ".join(line) for line in lines)


def _shuffled(text: str, rng: random.Random) -> str:
    """A text that stood nowhere: the words in another order; the characters where a script has no blanks."""
    words = text.split()
    if len(words) >= _SHUFFLED_WORDS:
        return " ".join(rng.sample(words, len(words)))
    characters = "".join(words)
    return "".join(rng.sample(characters, len(characters)))
