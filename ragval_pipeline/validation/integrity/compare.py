"""One page against its chunks, both ways.

What lives here: everything that is measured on one page. What does not: how the parts are measured (``match``,
``content``, ``glued``), and what they mean for the index (``classes``, ``findings``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.validation.integrity.classes import CHANGED_WORDS, GONE_BELOW, VERIFIED_FROM
from ragval_pipeline.validation.integrity.common import CommonBlocks
from ragval_pipeline.validation.integrity.content import chunk_side, held_blocks, lost_headings, lost_passages
from ragval_pipeline.validation.integrity.cut_short import cut_chunks
from ragval_pipeline.validation.integrity.diffs import segments_of
from ragval_pipeline.validation.integrity.edges import edges_of
from ragval_pipeline.validation.integrity.folding import fold
from ragval_pipeline.validation.integrity.glued import glued_words
from ragval_pipeline.validation.integrity.grams import SIZE, runs_of
from ragval_pipeline.validation.integrity.match import Match, letters_beyond_chance, match_text
from ragval_pipeline.validation.integrity.results import ChunkResult, PageResult, Passage
from ragval_pipeline.validation.integrity.searched import SearchedText

#: Snapshot columns that a comparison needs.
COLUMNS = ("point_id", "page_key", "text", "title", "headings", "chunk_index", "source_url", "module", "chapter")
#: A page with fewer letters, whose chunks hold many times as many, builds its text in the browser.
RENDERED_LETTERS = 40
#: A page that sends its visitors on and has fewer letters is a signpost: its chunks are of the page behind it.
SIGNPOST_LETTERS = 200
#: Passages and headings kept of one page, and characters of each.
MOST_PASSAGES = 50
PASSAGE_CHARACTERS = 400
PROBE = 40

Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Compared:
    """A chunk, its match, and where on the page it begins."""

    row: Row
    match: Match
    place: int

    @property
    def labels(self) -> list[str]:
        return labels_of(self.row)


def compare_page(record: PageRecord, rows: Iterable[Row], common: CommonBlocks, *, show: int = 0) -> PageResult:
    """Look for the chunks in their page, and for the page's content in its chunks.

    Args:
        record: The page's copy.
        rows: Its points, with ``COLUMNS``.
        common: Text that stands on most pages.
        show: Differing chunks whose differences are written out.

    Returns:
        The result; without a readable page nothing is compared.
    """
    rows = list(rows)
    with_text = [row for row in rows if row["text"] and fold(row["text"])]
    result = _without_text(record, rows=len(rows), with_text=len(with_text))
    if result.state == "read" and not _has_text(record, with_text):
        result = replace(result, state="elsewhere" if record.redirected else "unreadable", problem=_NO_TEXT)
    if result.state != "read":
        return result
    page = SearchedText(record.main, record.body, record.title, record.attributes)
    compared = [_compare(row, page) for row in with_text]
    result = _with_chunks(result, compared, page, show)
    if record.redirected and result.found < GONE_BELOW * result.letters:
        return replace(result, state="elsewhere", problem=_OTHER_PAGE, letters=0, found=0, differing=())
    return _with_content(result, record, compared, common)


_NO_TEXT = "the page renders no text"
_OTHER_PAGE = "the page redirects to another one"


def labels_of(row: Row) -> list[str]:
    """Title and headings stored with a chunk."""
    return [label for label in (row["title"], *(row["headings"] or ())) if label]


def address_of(row: Row) -> list[str]:
    """Where a chunk is from, as stored with it."""
    return [str(row[name]) for name in ("source_url", "module", "chapter") if row[name]]


def _without_text(record: PageRecord, *, rows: int, with_text: int) -> PageResult:
    return PageResult(
        key=record.page_key,
        url=record.url,
        state="unreadable" if record.problem else "read",
        problem=record.problem or "",
        unfit=_unfit(record),
        chunks=with_text,
        textless=rows - with_text,
    )


def _unfit(record: PageRecord) -> str | None:
    """Why a page should not be in the sitemap."""
    if record.status in (404, 410):
        return f"is gone (status {record.status})"
    if record.redirected:
        return f"redirects to {record.final_url}"
    return "asks not to be indexed" if record.noindex else None


def _has_text(record: PageRecord, rows: Sequence[Row]) -> bool:
    letters = len(fold(record.main))
    if record.redirected and letters < SIGNPOST_LETTERS:
        return False
    chunks = sum(len(row["text"]) for row in rows)
    return letters > 0 and not (letters < RENDERED_LETTERS and chunks > 10 * len(record.body))


def _compare(row: Row, page: SearchedText) -> _Compared:
    match = match_text(row["text"], page, labels=labels_of(row), address=address_of(row))
    letters = match.text.letters
    if match.found is None:
        return _Compared(row, match, page.place(letters) or 0)
    first = next((start for start, end in runs_of(match.found) if end - start >= SIZE), None)
    place = None if first is None else page.place(letters[first : first + SIZE])
    # What has no place comes last, so that it stands between no two chunks that belong together.
    return _Compared(row, match, len(page.folded.letters) if place is None else place)


def _with_chunks(result: PageResult, compared: Sequence[_Compared], page: SearchedText, show: int) -> PageResult:
    differing: list[ChunkResult] = []
    for chunk in compared:
        entry = _chunk_result(chunk, page, shown=len(differing) < show)
        if entry.found < entry.letters or entry.glued:
            differing.append(entry)
    return replace(
        result,
        letters=sum(chunk.match.letters for chunk in compared),
        found=sum(chunk.match.letters_found for chunk in compared),
        differing=tuple(differing),
    )


def _chunk_result(chunk: _Compared, page: SearchedText, *, shown: bool) -> ChunkResult:
    match = chunk.match
    result = ChunkResult(
        point_id=chunk.row["point_id"],
        letters=match.letters,
        found=match.letters_found,
        # Another text laid over this page has its own compounds where the page has two words.
        glued=tuple(glued_words(match, page)) if match.share >= GONE_BELOW else (),
    )
    if match.found is None:
        return result
    words, changed = len(match.text.tokens), match.changed_words()
    differs = match.share < VERIFIED_FROM or changed > CHANGED_WORDS * words
    openings, closings = edges_of(match)
    partly = GONE_BELOW <= match.share < VERIFIED_FROM
    return replace(
        result,
        words=words,
        changed=changed,
        surely=letters_beyond_chance(match, page, chunk.labels, address_of(chunk.row)) if partly else None,
        longest=0 if match.common is None else max((end - start for start, end in runs_of(match.common)), default=0),
        openings=openings,
        closings=closings,
        segments=segments_of(match, page) if shown and differs else (),
        probes=_probes(match.text.letters) if match.share < VERIFIED_FROM else (),
    )


def _probes(letters: str) -> tuple[str, ...]:
    """Three pieces of a chunk; the whole of a short one."""
    if len(letters) <= 3 * PROBE:
        return (letters,)
    return tuple(letters[at : at + PROBE] for at in (0, len(letters) // 2 - PROBE // 2, len(letters) - PROBE))


def _with_content(
    result: PageResult, record: PageRecord, compared: Sequence[_Compared], common: CommonBlocks
) -> PageResult:
    ordered = _in_order(compared)
    labels = [label for chunk in ordered for label in chunk.labels]
    texts = list(dict.fromkeys(chunk.row["text"] for chunk in ordered))
    chunks = chunk_side(texts, labels)
    held = held_blocks(record.blocks, chunks, common)
    result = replace(result, content=sum(entry.letters for entry in held), captured=sum(entry.held for entry in held))
    if not result.chunks + result.textless:
        return result  # a page without chunks is missing as a whole
    passages = [Passage(entry.block.kind, _cut(entry.block.text), entry.letters) for entry in lost_passages(held)]
    headings = lost_headings(held, chunks, verified=result.found == result.letters, texts=texts)
    return replace(
        result,
        passages=tuple(passages[:MOST_PASSAGES]),
        headings=tuple(_cut(text) for text in headings[:MOST_PASSAGES]),
        cut=tuple(cut_chunks({chunk.row["point_id"]: chunk.row["text"] for chunk in ordered}, held)),
    )


def _in_order(compared: Sequence[_Compared]) -> list[_Compared]:
    """The chunks as they follow each other: by their index, or by their place on the page where one has none."""
    indexed = all(chunk.row["chunk_index"] is not None for chunk in compared)
    return sorted(compared, key=lambda chunk: (chunk.row["chunk_index"] if indexed else 0, chunk.place))


def _cut(text: str) -> str:
    return text if len(text) <= PASSAGE_CHARACTERS else f"{text[: PASSAGE_CHARACTERS - 1]}…"
