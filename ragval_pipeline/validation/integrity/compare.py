"""One page against its chunks, both ways.

What lives here: everything that is measured on one page. What does not: how the parts are measured (``match``,
``content``, ``glued``), and what they mean for the index (``classes``, ``findings``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.facts.align import Alignment, align
from ragval_pipeline.validation.facts.captured import held_blocks, lost_headings, lost_passages
from ragval_pipeline.validation.facts.page import Page
from ragval_pipeline.validation.integrity.classes import CHANGED_WORDS, GONE_BELOW, VERIFIED_FROM
from ragval_pipeline.validation.integrity.common import CommonBlocks
from ragval_pipeline.validation.integrity.cut_short import cut_chunks
from ragval_pipeline.validation.integrity.diffs import segments_of
from ragval_pipeline.validation.integrity.edges import edges_of
from ragval_pipeline.validation.integrity.glued import glued_words
from ragval_pipeline.validation.integrity.results import ChunkResult, PageResult, Passage

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
    """A chunk and where it stands on its page."""

    row: Row
    match: Alignment

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
    page = Page(record)
    compared = [
        _Compared(row, align(row["text"], page, labels=labels_of(row), address=address_of(row))) for row in with_text
    ]
    result = _with_chunks(result, compared, page, show)
    if record.redirected and result.found < GONE_BELOW * result.letters:
        return replace(result, state="elsewhere", problem=_OTHER_PAGE, letters=0, found=0, differing=())
    return _with_content(result, page, compared, common)


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


def _with_chunks(result: PageResult, compared: Sequence[_Compared], page: Page, show: int) -> PageResult:
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


def _chunk_result(chunk: _Compared, page: Page, *, shown: bool) -> ChunkResult:
    match = chunk.match
    result = ChunkResult(
        point_id=chunk.row["point_id"],
        letters=match.letters,
        found=match.letters_found,
        # Another text laid over this page has its own compounds where the page has two words.
        glued=tuple(glued_words(match, page)) if match.share >= GONE_BELOW else (),
    )
    if match.whole:
        return result
    words, changed = len(match.text.tokens), match.changed_words()
    differs = match.share < VERIFIED_FROM or changed > CHANGED_WORDS * words
    openings, closings = edges_of(match)
    partly = GONE_BELOW <= match.share < VERIFIED_FROM
    return replace(
        result,
        words=words,
        changed=changed,
        surely=match.surely if partly else None,
        longest=max((span.length for span in match.spans if span.kind == "run"), default=0),
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
    result: PageResult, page: Page, compared: Sequence[_Compared], common: CommonBlocks
) -> PageResult:
    every = held_blocks(page, [chunk.match for chunk in compared], {label for chunk in compared for label in chunk.labels})
    held = [entry for entry in every if entry.folded not in common]
    result = replace(result, content=sum(entry.letters for entry in held), captured=sum(entry.held for entry in held))
    if not result.chunks + result.textless:
        return result  # a page without chunks is missing as a whole
    passages = [Passage(entry.block.kind, _cut(entry.block.text), entry.letters) for entry in lost_passages(held)]
    headings = [entry.block.text for entry in lost_headings(held)]
    return replace(
        result,
        passages=tuple(passages[:MOST_PASSAGES]),
        headings=tuple(_cut(text) for text in headings[:MOST_PASSAGES]),
        cut=tuple(cut_chunks({chunk.row["point_id"]: chunk.match for chunk in compared}, held)),
    )


def _cut(text: str) -> str:
    return text if len(text) <= PASSAGE_CHARACTERS else f"{text[: PASSAGE_CHARACTERS - 1]}…"
