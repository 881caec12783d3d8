"""The chunks that differ most from their pages, with common and differing parts."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Literal

from ragval_pipeline.findings.factory import QUOTED, SHOWN
from ragval_pipeline.sources.snapshot.reader import rows_by_id
from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import runs_of
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.bucket import COLUMNS
from ragval_pipeline.validation.facts.differences import differences
from ragval_pipeline.validation.facts.page import Page, Range
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.facts.texts import address_of, labels_of
from ragval_pipeline.validation.integrity.compared import Compared

#: ``same`` is in both, ``index`` only in the chunk, ``page`` only on the page, ``skipped`` is left out.
SegmentKind = Literal["same", "index", "page", "skipped"]
Segments = tuple[tuple[SegmentKind, str], ...]

#: Characters shown of one difference.
LONGEST = 300  # shown
#: Differences shown of one chunk.
MOST_DIFFERENCES = 12  # shown


def examples(compared: Compared, facts: Facts) -> list[dict[str, Any]]:
    """The chunks that differ most, drifted before gone ones, with their differences."""
    differing = [chunk for name, chunk in compared.differing.items() if compared.classes[name] != "verified"]
    differing.sort(key=lambda chunk: (compared.classes[chunk.point_id] == "gone", chunk.share, chunk.point_id))
    shown = {chunk.point_id: chunk for chunk in differing[:SHOWN]}
    if not shown:
        return []
    keys = {chunk.page_key for chunk in shown.values() if chunk.page_key is not None}
    pages = {record.page_key: Page(record) for record in facts.copies.records_of(keys)}
    rows = rows_by_id(facts.snapshot.batches(COLUMNS), shown)
    found = []
    for name, chunk in shown.items():
        row, page = rows[name], pages[chunk.page_key or ""]
        match = align(row["text"], page, labels=labels_of(row), address=address_of(row))
        found.append(
            {
                "point_id": name,
                "page_url": compared.pages[chunk.page_key or ""].url,
                "class": compared.classes[name],
                "coverage": round(chunk.share, 4),
                "segments": [list(segment) for segment in segments_of(match, page)],
            }
        )
    return found


def segments_of(match: Alignment, page: Page) -> Segments:
    """The chunk as (kind, text): common parts, parts only in the chunk, only on the page, and omissions."""
    places = [(own, match.window(*own)) for own in _whole_word_runs(match)]
    places += _lacking(match, page)
    if not places:
        return ()
    text, segments, at = match.text, _Segments(), 0
    for (start, end), place in sorted(places, key=itemgetter(0))[:MOST_DIFFERENCES]:
        segments.common(text.shown[_after(text, at) : int(text.offsets[start])], first=at == 0)
        segments.add("index", text.between(start, end))
        if place is not None:
            segments.add("page", page.folded.between(*place))
        at = end
    segments.common(text.shown[_after(text, at) :], first=at == 0, last=True)
    return tuple(segments.parts)


def _lacking(match: Alignment, page: Page) -> Iterator[tuple[Range, Range]]:
    """Where a chunk with all its letters on the page lacks words, or letters of a word, and what the page has there."""
    for (start, end), there in differences(match, page).replaced:
        if start == end:
            yield (start, end), there
        elif match.found[start:end].all():
            yield match.text.whole_words(start, end), page.folded.whole_words(*there)


class _Segments:
    """Collects segments and shortens them."""

    def __init__(self) -> None:
        self.parts: list[tuple[SegmentKind, str]] = []

    def add(self, kind: SegmentKind, text: str) -> None:
        if text.strip():
            self.parts.append((kind, text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"))

    def common(self, text: str, *, first: bool = False, last: bool = False) -> None:
        """Common text: its middle is omitted, or the part before the first or after the last difference."""
        head, tail = (0 if first else QUOTED), (0 if last else QUOTED)
        if len(text) <= head + tail + QUOTED // 4:  # shown
            self.add("same", text)
            return
        self.add("same", text[:head])
        self.parts.append(("skipped", "…"))
        self.add("same", text[len(text) - tail :] if tail else "")


def _whole_word_runs(match: Alignment) -> list[tuple[int, int]]:
    """The differing ranges, widened to whole words and merged if adjacent."""
    missing = ~match.found
    for first, last in match.text.tokens.tolist():
        if missing[first:last].any():
            missing[first:last] = True
    return runs_of(missing)


def _after(text: FoldedText, letter: int) -> int:
    """Where the text continues after the letters before ``letter``: separators belong to the following word."""
    return int(text.offsets[letter - 1]) + 1 if letter else 0
