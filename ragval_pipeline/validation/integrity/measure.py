"""Content integrity of an index: its two criteria, its findings, and examples to read.

What lives here: from page copies and a snapshot to a measurement. What does not: comparing one page (``compare``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ragval_pipeline.sources.page_copies.reader import PageCopies
from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.integrity.chunks_of_pages import chunks_of_pages
from ragval_pipeline.validation.integrity.common import CommonBlocks, common_blocks
from ragval_pipeline.validation.integrity.compare import Row, compare_page
from ragval_pipeline.validation.integrity.elsewhere import pages_elsewhere
from ragval_pipeline.validation.integrity.findings import Classified, classify, integrity_findings
from ragval_pipeline.validation.integrity.habits import Habits
from ragval_pipeline.validation.integrity.moved import COLUMNS as STRAY_COLUMNS
from ragval_pipeline.validation.integrity.moved import collect_strays, moved_pages
from ragval_pipeline.validation.integrity.results import IntegrityResult, PageResult
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.points import with_share

ASSET = "content_integrity"
#: Chunks whose differences the report shows.
EXAMPLES = 20
# Some of them may turn out to be no drift once all pages are known.
_PREPARED = 3 * EXAMPLES


def measure_integrity(copies: PageCopies, snapshot: Snapshot) -> Measurement:
    """Compare every page that was read with its chunks.

    Args:
        copies: The pages; when the page host failed, those before.
        snapshot: The collection.

    Returns:
        ``content_integrity`` and ``source_captured``, the findings ``integrity.*``, ``source.page_unfit`` and
        ``text.glued_words``, and the sections ``integrity``, ``integrity_examples`` and
        ``moved_pages``: by page that lacks something, pages out of scope and points without a page that hold its text.

    Raises:
        SystemFailure: The page host failed.
        RuntimeError: Reading the pages crashed.
    """
    manifest = copies.manifest
    if manifest.failure is not None:
        raise manifest.failure.error()
    if manifest.crash:
        raise RuntimeError(f"the pages could not be read ({manifest.crash})")
    if not manifest.configured:
        return _unmeasured(manifest.reason)
    if not snapshot.manifest.points:
        return _unmeasured("the collection holds no points")
    common = common_blocks((record.blocks for record in copies.records()), manifest.pages)
    result = IntegrityResult()
    for group in copies.groups():
        rows = chunks_of_pages(snapshot, [record.page_key for record in group])
        result = compare_pages(group, rows, common, into=result)
    measured = judge_integrity(result, copies, text_field=snapshot.manifest.fields.get("text"))
    findings = tuple(with_share(finding, snapshot.manifest.points) for finding in measured.findings)
    sections = {**measured.sections, "moved_pages": _moved(result, copies, snapshot)}
    return measured.model_copy(update={"findings": findings, "sections": sections})


def _moved(result: IntegrityResult, copies: PageCopies, snapshot: Snapshot) -> dict[str, list[str]]:
    lacking = {page.key for page in result.read() if page.passages or page.headings or not page.chunks}
    strays = collect_strays(snapshot.rows(STRAY_COLUMNS), result.pages) if lacking else {}
    return moved_pages(strays, copies.records(), lacking) if strays else {}


def compare_pages(
    records: Iterable[PageRecord],
    rows: dict[str, list[Row]] | dict[str, list[dict[str, Any]]],
    common: CommonBlocks,
    *,
    into: IntegrityResult | None = None,
) -> IntegrityResult:
    """Compare some pages with their chunks.

    Args:
        records: The pages.
        rows: Their points by page key.
        common: Text that stands on most pages.
        into: The result to add to; null: a new one.
    """
    result = into or IntegrityResult()
    shown = sum(bool(chunk.segments) for page in result.pages.values() for chunk in page.differing)
    for record in records:
        page = compare_page(record, rows.get(record.page_key, ()), common, show=max(0, _PREPARED - shown))
        shown += sum(bool(chunk.segments) for chunk in page.differing)
        result.pages[page.key] = page
    return result


def judge_integrity(result: IntegrityResult, copies: PageCopies, *, text_field: str | None) -> Measurement:
    """The measurement of a whole comparison.

    Args:
        result: The comparison of all pages.
        copies: The pages, to look for chunks that are gone from their own.
        text_field: Payload name of the text, for the reason when there is none.
    """
    pages = result.read()
    chunks = sum(page.chunks for page in pages)
    if not chunks and any(page.textless for page in pages):
        return _unmeasured(f"no chunk has text under payload field {text_field or 'text'}")
    habits = Habits.of(pages)
    classified = classify(result, habits)
    gone = {
        chunk.point_id: (page.key, chunk.probes) for page, chunk, kind in classified if kind == "gone" and chunk.probes
    }
    elsewhere = pages_elsewhere(gone, copies.records()) if gone else {}
    return Measurement(
        asset=ASSET,
        values=_values(pages, habits),
        findings=tuple(integrity_findings(result, classified, elsewhere)),
        sections={
            "integrity": _summary(result, classified, copies),
            "integrity_examples": _examples(classified),
        },
    )


def _values(pages: list[PageResult], habits: Habits) -> tuple[MeasuredValue, ...]:
    """Both criteria. What the ingestion puts around every chunk counts as any text; the reason says how much it is."""

    def total(name: str) -> int:
        return sum(getattr(page, name) for page in pages)

    integrity = ratio("content_integrity", total("found"), total("letters"), of="letters of chunks whose page was read")
    added = sum(edge.missing for page in pages for chunk in page.differing for edge in habits.in_chunk(chunk))
    if added:
        reason = f"{integrity.reason}; {added} of the others are what the ingestion puts around its chunks"
        integrity = integrity.model_copy(update={"reason": reason})
    return (
        integrity,
        ratio("source_captured", total("captured"), total("content"), of="letters of page content"),
    )


def _unmeasured(reason: str) -> Measurement:
    names = ("content_integrity", "source_captured")
    return Measurement(asset=ASSET, values=tuple(not_measured(name, "no_data", reason) for name in names))


def _summary(result: IntegrityResult, classified: list[Classified], copies: PageCopies) -> dict[str, Any]:
    pages = result.read()
    kinds = Counter(kind for _, _, kind in classified)
    chunks = sum(page.chunks for page in pages)
    unread = [page for page in result.pages.values() if page.state != "read"]
    return {
        "pages_read": len(pages),
        "pages_unreadable": sum(page.state == "unreadable" for page in unread),
        "pages_left_out": copies.manifest.left_out,
        "chunks": chunks,
        "verified": chunks - kinds["drifted"] - kinds["gone"],
        "drifted": kinds["drifted"],
        "gone": kinds["gone"],
        "page_unreadable": sum(page.chunks for page in unread),
    }


def _examples(classified: list[Classified]) -> list[dict[str, Any]]:
    """The chunks that differ most, with their differences."""
    shown = [entry for entry in classified if entry[2] != "verified" and entry[1].segments]
    shown.sort(key=lambda entry: (entry[2] == "gone", entry[1].share, entry[1].point_id))
    return [
        {
            "point_id": chunk.point_id,
            "page_url": page.url,
            "class": kind,
            "coverage": round(chunk.share, 4),
            "segments": [list(segment) for segment in chunk.segments],
        }
        for page, chunk, kind in shown[:EXAMPLES]
    ]
