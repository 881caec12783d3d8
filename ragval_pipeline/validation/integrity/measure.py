"""Content integrity of an index: its two criteria and its findings, from facts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.integrity.compared import Compared, compare
from ragval_pipeline.validation.integrity.examples import examples
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.points import with_share

ASSET = "content_integrity"


def measure_integrity(facts: Facts) -> Measurement:
    """Compare every page that was read with its chunks.

    Returns:
        ``content_integrity`` and ``source_captured``, the findings ``integrity.*``, ``source.page_unfit`` and
        ``text.glued_words``, and the sections ``integrity``, ``integrity_examples`` and ``moved_pages``: by page that
        lacks something, pages out of scope, points without a page and points of other pages with its text.

    Raises:
        SystemFailure: The page host failed.
        RuntimeError: Reading the pages crashed.
        FactsError: Making the facts failed.
    """
    manifest, points = facts.manifest.copies, facts.manifest.points
    if manifest.failure is not None:
        raise manifest.failure.error()
    if manifest.crash:
        raise RuntimeError(f"the pages could not be read ({manifest.crash})")
    if not manifest.configured:
        return _unmeasured(manifest.reason)
    if not points.points:
        return _unmeasured("the collection holds no points")
    compared = compare(facts)
    pages = compared.read
    if not any(page.chunks for page in pages) and any(page.textless for page in pages):
        return _unmeasured(f"no chunk has text under payload field {points.fields.get('text') or 'text'}")
    return Measurement(
        asset=ASSET,
        values=_values(compared)
        if manifest.suffices(len(compared.read))
        else _unmeasured(_too_few(compared, manifest)).values,
        findings=tuple(_graded(with_share(finding, points.points), manifest) for finding in find_all(compared)),
        sections={
            "integrity": _summary(compared, facts),
            "integrity_examples": examples(compared, facts),
            "moved_pages": compared.moved,
        },
    )


def _values(compared: Compared) -> tuple[MeasuredValue, ...]:
    """Both criteria. Text that the ingestion adds around chunks counts like any text; the reason gives its amount."""
    integrity = ratio("content_integrity", compared.found, compared.letters, of="letters of chunks whose page was read")
    if compared.added:
        reason = f"{integrity.reason}; {compared.added} of the others are text that the ingestion adds to its chunks"
        integrity = integrity.model_copy(update={"reason": reason})
    return integrity, ratio("source_captured", compared.held, compared.content, of="letters of page content")


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
    of_gone = finding.code in ("source.page_unfit", "integrity.page_unreadable")
    if of_gone and not manifest.suffices(manifest.pages - manifest.gone):
        return finding.model_copy(update={"severity": "error"})
    return finding


def _unmeasured(reason: str) -> Measurement:
    names = ("content_integrity", "source_captured")
    return Measurement(asset=ASSET, values=tuple(not_measured(name, "no_data", reason) for name in names))


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
