"""Defects of chunks: missing in the middle, stored twice, nearly the same, left over, too long or too short."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Collection, Sequence
from html import escape

from ragval_pipeline.testing.defects.choose import add_copies, choose_pages, choose_points, ids_of, rewrite
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.testing.defects.store import StoredPoint


@defect("chunk.index_gap", kind="points")
def index_gap(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Deletes a chunk from the middle of a page."""
    corpus.require("chunk_index")
    pages = choose_pages(corpus, amount, rng, min_chunks=3)
    indexed = corpus.pages()
    gone = {rng.choice(indexed[url][1:-1]).id for url in pages}
    corpus.points = [point for point in corpus.points if point.id not in gone]
    return Planted("chunk.index_gap", frozenset(pages))


@defect("chunk.duplicate_index", kind="points")
def duplicate_index(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Ingests a chunk again under a new id."""
    corpus.require("chunk_index")
    # A page whose chunks are all stored twice was ingested twice.
    once = {page[0].id for page in corpus.pages().values() if len(page) > 1}
    points = choose_points(corpus, amount, rng, suits=lambda point: point.id not in once)
    copies = add_copies(corpus, points, salt="again")
    subjects = ids_of((*points, *copies))
    return Planted("chunk.duplicate_index", subjects)


@defect("chunk.ingested_twice", kind="points")
def ingested_twice(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Ingests a page again under new ids."""
    pages, indexed = choose_pages(corpus, amount, rng, min_chunks=2), corpus.pages()
    for url in pages:
        add_copies(corpus, indexed[url], salt="second generation")
    return Planted("chunk.ingested_twice", frozenset(pages))


@defect("chunk.ingested_twice", kind="points", variant="another_size")
def ingested_in_halves(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Leaves the points of an ingestion a month before, in chunks of half the size."""
    pages, indexed = choose_pages(corpus, amount, rng, min_chunks=2), corpus.pages()
    halves = []
    for url in pages:
        chunks = indexed[url]
        for number, point in enumerate(chunks):
            text = corpus.text(point)
            middle = text.rfind(" ", 0, len(text) // 2 + 1) if " " in text[: len(text) // 2 + 1] else len(text) // 2
            for part, piece in enumerate((text[:middle], text[middle:].lstrip())):
                changes = {"chunk_index": 2 * number + part, **_dated(corpus, point, days=-30)}
                (copy,) = add_copies(corpus, [point], salt=f"half {part}", **changes)
                halves.append((copy, piece))
    rewrite(corpus, halves)
    return Planted("chunk.ingested_twice", frozenset(pages))


@defect("chunk.order_shuffled", kind="points")
def order_shuffled(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Numbers the chunks of a page in reverse."""
    pages, indexed = choose_pages(corpus, amount, rng, min_chunks=2), corpus.pages()
    for url in pages:
        indices = [corpus.get(point, "chunk_index") for point in indexed[url]]
        for point, index in zip(indexed[url], reversed(indices), strict=True):
            corpus.put(point, "chunk_index", index)
    return Planted("chunk.order_shuffled", frozenset(pages))


#: Minimum words of a text that stays nearly the same when two are changed.
_MIN_WORDS = 45
#: Minimum words of a text that becomes a different one when shuffled.
_SHUFFLED_WORDS = 20
_CHANGED = ("Quartz", "Marigold")


@defect("chunk.duplicate_text", kind="points")
def duplicate_text(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores a chunk again as the last one of its page."""
    # A page whose chunks are all stored twice was ingested twice.
    once = {page[0].id for page in corpus.pages().values() if len(page) > 1}
    points = choose_points(corpus, amount, rng, suits=lambda point: point.id not in once)
    copies = []
    for point in points:
        page = corpus.pages()[corpus.get(point, "source_url")]
        copies += add_copies(corpus, [point], salt="twice", chunk_index=len(page))
    subjects = ids_of((*points, *copies))
    return Planted("chunk.duplicate_text", subjects)


@defect("chunk.near_duplicate", kind="points")
def near_duplicate(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Puts a chunk with two words changed on another page, on the site and in the index."""
    points = choose_points(corpus, amount, rng, suits=lambda point: _has_words_to_change(corpus.text(point)))
    scope = frozenset(corpus.scope_urls)
    copies = [_put_on_another_page(corpus, point, scope, rng) for point in points]
    return Planted("chunk.near_duplicate", ids_of((*points, *copies)))


@defect("chunk.stale_tail", kind="points")
def stale_tail(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Appends a chunk of a page's older, longer version to its points."""
    return _append_old_chunks(corpus, amount, rng)


@defect("chunk.stale_tail", kind="points", variant="undated")
def undated_tail(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """The same, in a collection without embedding times."""
    planted = _append_old_chunks(corpus, amount, rng)
    for point in corpus.points:
        corpus.drop(point, "embedded_at")
    return planted


@defect("chunk.stale_tail", kind="points", variant="larger_chunks")
def tail_of_smaller_chunks(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Ingests a page again in larger chunks and leaves the last of the old ones, without embedding times."""
    corpus.require("chunk_index")
    pages, indexed, old = choose_pages(corpus, amount, rng, min_chunks=4), corpus.pages(), list[StoredPoint]()
    for url in pages:
        chunks = indexed[url]
        pairs = [chunks[at : at + 2] for at in range(0, len(chunks), 2)]
        joined = ["\n".join(corpus.text(point) for point in pair) for pair in pairs]
        rewrite(corpus, list(zip(chunks, joined, strict=False)))
        old += chunks[len(pairs) :]
    for point in corpus.points:
        corpus.drop(point, "embedded_at")
    return Planted("chunk.stale_tail", ids_of(old))


def _append_old_chunks(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, min_chunks=2)
    indexed, old = corpus.pages(), []
    for url in pages:
        last = indexed[url][-1]
        corpus.require("embedded_at")
        old += add_copies(
            corpus,
            [last],
            salt="old",
            chunk_id=f"old {last.id}",
            chunk_index=len(indexed[url]),
            **_dated(corpus, last, days=-30),
        )
    rewrite(corpus, [(point, _shuffled(corpus.text(point), rng)) for point in old])
    return Planted("chunk.stale_tail", ids_of(old))


def _dated(corpus: Corpus, point: StoredPoint, *, days: int) -> dict[str, str]:
    """An embedding time so many days after that of a point; nothing in a collection without times."""
    if not corpus.holds("embedded_at"):
        return {}
    moment = dt.datetime.fromisoformat(corpus.get(point, "embedded_at")) + dt.timedelta(days=days)
    return {"embedded_at": f"{moment:%Y-%m-%dT%H:%M:%SZ}"}


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


def _has_words_to_change(text: str) -> bool:
    """Whether a text stays nearly the same with two words changed; a drawing or a table of numbers may have none."""
    words = text.split()
    return len(words) >= _MIN_WORDS and sum(map(str.isalpha, words)) >= len(_CHANGED)


def _with_two_words_changed(text: str) -> str:
    """The text with the words at one and two thirds replaced; line breaks are kept."""
    lines = [line.split(" ") for line in text.splitlines()]
    places = [(row, column) for row, line in enumerate(lines) for column, word in enumerate(line) if word.isalpha()]
    for number, word in enumerate(_CHANGED, 1):
        row, column = places[number * len(places) // 3]
        lines[row][column] = word
    return "\n".join(" ".join(line) for line in lines)


def _shuffled(text: str, rng: random.Random) -> str:
    """A text that does not exist: the words shuffled, or the characters in scripts without spaces."""
    words = text.split()
    if len(words) >= _SHUFFLED_WORDS:
        return " ".join(rng.sample(words, len(words)))
    characters = "".join(words)
    return "".join(rng.sample(characters, len(characters)))


_LEFT_WORDS = 4


@defect("chunk.over_model_limit", kind="points")
def over_model_limit(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Joins all chunks of a page except the last, and sets a model limit that no other chunk reaches."""
    limit = _limit_of_the_longest(corpus)
    indexed = corpus.pages()
    pages = choose_pages(
        corpus, amount, rng, min_chunks=3, suits=lambda url: _tokens(corpus, indexed[url][:-1]) > 1.1 * limit
    )
    joined = [_join(corpus, indexed[url], indexed[url][:-1]) for url in pages]
    return Planted("chunk.over_model_limit", ids_of(joined))


@defect("chunk.one_per_page", kind="points")
def one_per_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Joins all chunks of every page, and sets a model limit that the single chunks were within."""
    limit = _limit_of_the_longest(corpus)
    # A page that another defect has put under two addresses, or split, cannot also be one chunk.
    scope = set(corpus.scope_urls) - corpus.spoilt
    joined = [_join(corpus, page, page) for url, page in corpus.pages().items() if url in scope and len(page) > 1]
    pages = [corpus.get(point, "source_url") for point in joined if _tokens(corpus, [point]) > limit]
    return Planted("chunk.one_per_page", frozenset(pages))


@defect("chunk.too_small", kind="points")
def too_small(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Cuts a chunk down to its last four words."""
    ends = [_end(corpus.text(point)) for point in corpus.points]
    points = choose_points(corpus, amount, rng, suits=lambda point: ends.count(_end(corpus.text(point))) == 1)
    rewrite(corpus, [(point, _end(corpus.text(point))) for point in points])
    return Planted("chunk.too_small", ids_of(points))


@defect("chunk.token_count_off", kind="points")
def token_count_off(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Multiplies the token count of a point by 5."""
    points = choose_points(corpus, amount, rng, suits=lambda point: _tokens(corpus, [point]) > 3)
    for point in points:
        corpus.put(point, "token_count", 5 * corpus.get(point, "token_count"))
    return Planted("chunk.token_count_off", ids_of(points))


def _limit_of_the_longest(corpus: Corpus) -> int:
    limit = max(_tokens(corpus, [point]) for point in corpus.points)
    corpus.settings["embedding"]["max_input_tokens"] = limit
    return limit


def _tokens(corpus: Corpus, points: Sequence[StoredPoint]) -> int:
    """The stored counts, as far as they are numbers: another defect may have spoilt some."""
    counts = (corpus.get(point, "token_count") for point in points)
    return sum(count for count in counts if isinstance(count, int))


def _join(corpus: Corpus, page: Sequence[StoredPoint], points: Sequence[StoredPoint]) -> StoredPoint:
    """Join the texts of some points of a page in the first of them."""
    rewrite(corpus, [(points[0], "\n".join(corpus.text(point) for point in points))])
    gone = {id(point) for point in points[1:]}
    corpus.points = [point for point in corpus.points if id(point) not in gone]
    numbered = corpus.holds("chunk_index")
    for index, point in enumerate([points[0], *page[len(points) :]] if numbered else ()):
        corpus.put(point, "chunk_index", index)
    return points[0]


def _end(text: str) -> str:
    end = " ".join(text.split()[-_LEFT_WORDS:])
    # Without spaces a character says as much as half a word.
    return end[-30:] if end.isascii() else end[-12:]
