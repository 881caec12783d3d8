"""Content integrity of an index: its two criteria and its findings, from facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Literal

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import PASSAGE, QUOTED, SHOWN
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest, UnreadPagesError
from ragval_pipeline.sources.snapshot.reader import rows_by_id
from ragval_pipeline.sources.stores.qdrant.facts import NONSENSE
from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import runs_of
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.chunks.amounts import Amounts
from ragval_pipeline.validation.chunks.compared import Compared, compare
from ragval_pipeline.validation.chunks.differences import find_differences
from ragval_pipeline.validation.coverage.indexed import NO_PAGES
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.bucket import COLUMNS
from ragval_pipeline.validation.facts.differences import differences
from ragval_pipeline.validation.facts.page import Page, Range
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.facts.texts import address_of, labels_of
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, ReasonCode, not_measured, ratio
from ragval_pipeline.validation.points import with_share

#: ``same`` is in both, ``index`` only in the chunk, ``page`` only on the page, ``skipped`` is left out.
SegmentKind = Literal["same", "index", "page", "skipped"]
Segments = tuple[tuple[SegmentKind, str], ...]


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
    for (start, end), place in sorted(places, key=itemgetter(0))[:SHOWN]:
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
            self.parts.append((kind, text if len(text) <= PASSAGE else f"{text[: PASSAGE - 1]}…"))

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


ASSET = "content_integrity"


def measure_integrity(facts: Facts, partitions: Partitions | None = None) -> Measurement:
    """Compare every page that was read with its chunks.

    ``partitions`` are those of the collection, if it has any.

    Returns:
        ``content_integrity`` and ``source_captured``, the findings ``integrity.*``, ``source.page_unfit`` and
        ``text.glued_words``, and the sections ``integrity``, ``integrity_examples`` and ``moved_pages``: by page that
        lacks something, pages out of scope, points without a page and points of other pages with its text.

    Raises:
        SystemFailure: The page host failed.
        RuntimeError: Reading the pages or making the facts crashed.
        UnreadPagesError: Reading the pages failed.
        FactsError: Making the facts failed.
    """
    manifest, points = facts.manifest.copies, facts.manifest.points
    if manifest.failure is not None:
        raise manifest.failure.error()
    if manifest.problem:
        raise UnreadPagesError(manifest.problem)
    if manifest.crash:
        raise RuntimeError(f"the pages could not be read ({manifest.crash})")
    if not manifest.configured:
        return _unmeasured(manifest.reason)
    if not points.points:
        return _unmeasured("the collection holds no points")
    if points.facts.redacted:
        return _unmeasured(NONSENSE)
    compared = compare(facts, partitions)
    pages = compared.read
    if not any(page.chunks for page in pages) and any(page.textless for page in pages):
        return _unmeasured(f"no chunk has text under payload field {points.fields.get('text') or 'text'}")
    if points.points and not any(batch[0].null_count < len(batch) for batch in facts.snapshot.batches(("page_key",))):
        return _unmeasured(NO_PAGES)
    unread = None if manifest.suffices(len(compared.read)) else _too_few(compared, manifest)
    return Measurement(
        asset=ASSET,
        values=_unmeasured(unread, code="too_few").values if unread else _values(compared),
        by_partition={
            value: _unmeasured(unread, code="too_few").values if unread else _ratios(amounts)
            for value, amounts in compared.by_partition.items()
        },
        findings=tuple(_graded(with_share(finding, points.points), manifest) for finding in find_differences(compared)),
        sections={
            "integrity": _summary(compared, facts),
            "integrity_examples": examples(compared, facts),
            "moved_pages": compared.moved,
        },
    )


def _values(compared: Compared) -> tuple[MeasuredValue, ...]:
    """Both criteria. Text that the ingestion adds around chunks counts like any text; the reason gives its amount."""
    integrity, captured = _ratios(compared.amounts)
    if compared.added:
        reason = f"{integrity.reason}; {compared.added} of the others are text that the ingestion adds to its chunks"
        integrity = integrity.model_copy(update={"reason": reason})
    return integrity, captured


def _ratios(amounts: Amounts) -> tuple[MeasuredValue, MeasuredValue]:
    return (
        ratio("content_integrity", amounts.found, amounts.letters, of="letters of chunks whose page was read"),
        ratio("source_captured", amounts.held, amounts.content, of="letters of page content"),
    )


def _unread(compared: Compared) -> Counter[str]:
    return Counter(page.state for page in compared.pages.values() if page.state != "read")


def _too_few(compared: Compared, manifest: PageCopiesManifest) -> str:
    unread = _unread(compared)
    counted = f"{unread.total()} of {plural(len(compared.pages), 'page')} could not be read"
    if elsewhere := unread["elsewhere"]:
        counted += f" ({elsewhere} lead elsewhere)"
    return f"{counted}, and source.min_readable is {manifest.min_readable:g}"


def _graded(finding: Finding, manifest: PageCopiesManifest) -> Finding:
    """An error if more pages are gone than may be missing: then the site is not what the sitemap describes."""
    of_gone = CATALOGUE[finding.code].names_unread_pages
    if of_gone and not manifest.suffices(manifest.pages - manifest.gone):
        return finding.model_copy(update={"severity": "error"})
    return finding


def _unmeasured(reason: str, *, code: ReasonCode = "no_data") -> Measurement:
    names = ("content_integrity", "source_captured")
    return Measurement(asset=ASSET, values=tuple(not_measured(name, code, reason) for name in names))


def _summary(compared: Compared, facts: Facts) -> dict[str, Any]:
    kinds = Counter(compared.classes.values())
    chunks = sum(page.chunks for page in compared.read)
    return {
        "pages_read": len(compared.read),
        "pages_unreadable": _unread(compared)["unreadable"],
        "pages_left_out": facts.manifest.copies.left_out,
        "chunks": chunks,
        "verified": chunks - kinds["drifted"] - kinds["gone"],
        "drifted": kinds["drifted"],
        "gone": kinds["gone"],
        "page_unreadable": sum(page.chunks for page in compared.pages.values() if page.state != "read"),
    }
