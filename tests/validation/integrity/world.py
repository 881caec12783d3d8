"""A small site and its chunks, compared by the real parts. Not a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from upath import UPath

from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.page_copies.reader import PageCopies
from ragval_pipeline.sources.page_copies.record import PageRecord, record_of
from ragval_pipeline.sources.page_copies.writer import take_copies
from ragval_pipeline.sources.page_reader import PageCopy, PageReader
from ragval_pipeline.sources.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.qdrant.reader import Point
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.snapshot.writer import take_snapshot
from ragval_pipeline.suite.model import PayloadSettings
from ragval_pipeline.validation.integrity.common import CommonBlocks, common_blocks
from ragval_pipeline.validation.integrity.compare import compare_page
from ragval_pipeline.validation.integrity.measure import measure_integrity
from ragval_pipeline.validation.integrity.results import PageResult
from ragval_pipeline.validation.measurement import Measurement
from tests.validation.factory import absolute, site
from tests.validation.rows import FIELDS, texts

GRIPPER = (
    "The gripper closes until the motor draws more than two amperes, then it holds the part without pressing harder."
)
CAMERA = "Calibrate the camera once a week with the printed board, and after every collision of the arm with the table."
BATTERY = "Charge the battery in the cabinet overnight and write the hour into the book that hangs beside the door."
VISITORS = (
    "Visitors wear the yellow helmets from the shelf at the entrance and stay behind the painted line on the floor."
)


def html(content: str, *, head: str = "", frame: str = "<nav>Docs Home</nav>") -> str:
    """A page with this content."""
    return (
        f"<!doctype html><html><head><title>Arm</title>{head}</head><body>{frame}<main>{content}</main></body></html>"
    )


def paragraphs(*found: str) -> str:
    """Paragraphs of a page."""
    return "".join(f"<p>{text}</p>" for text in found)


def record(content: str, **facts: Any) -> PageRecord:
    """The copy of page ``/a`` with this content."""
    url = absolute("/a")
    return record_of(PageCopy(url, html=html(content), **facts), site("/a").folder().key(url))


def compared(content: str, *chunks: str, common: CommonBlocks | None = None, **payload: Any) -> PageResult:
    """Page ``/a`` against its chunks."""
    rows = texts(*chunks, **payload)
    return compare_page(record(content), rows, common or CommonBlocks(), show=100)


def on_most_pages(*pages: str) -> CommonBlocks:
    """What stands on most of some pages."""
    return common_blocks((record(content).blocks for content in pages), len(pages))


class Collection:
    """The points of a collection as its reader gives them."""

    def __init__(self, payloads: list[dict[str, Any]]) -> None:
        self._points = [Point(str(number), payload) for number, payload in enumerate(payloads)]

    def facts(self) -> CollectionFacts:
        return CollectionFacts(name="points", points_count=len(self._points))

    def count(self) -> int:
        return len(self._points)

    def pages(self, fields: Any) -> Any:
        return iter([self._points] if self._points else [])


def measured(folder: Path, pages: Mapping[str, str | None], *payloads: dict[str, Any]) -> Measurement:
    """A site of these pages, null for one without a file, measured against points with ids from 0."""
    return measure_integrity(copies_of(folder, pages), snapshot_of(folder, pages, *payloads))


def copies_of(folder: Path, pages: Mapping[str, str | None]) -> PageCopies:
    """The copies of a site in a folder."""
    root = folder / "site"
    root.mkdir()
    for path, text in pages.items():
        if text is not None:
            (root / f"{path.strip('/')}.html").write_text(text, encoding="utf-8")
    inventory = site(*pages)
    reader = PageReader(site_root=root, base_path=None, fetcher=None, folder=inventory.folder())
    manifest: PageCopiesManifest = take_copies(
        inventory, reader, max_pages=100, folder=UPath(folder / "pages"), kept_uri=str(folder / "kept"), run_id="run"
    )
    return PageCopies(manifest)


def snapshot_of(folder: Path, pages: Mapping[str, str | None], *payloads: dict[str, Any]) -> Snapshot:
    """The snapshot of points with these payloads."""
    inventory = site(*pages)
    stored = [{**payload, "source_url": absolute(payload["source_url"])} for payload in payloads]
    reader: Any = Collection(stored)
    manifest = take_snapshot(
        reader,
        payload=PayloadSettings(fields=FIELDS, required=()),
        page_key=inventory.folder().key,
        pages=inventory.scope_urls,
        folder=UPath(folder / "points"),
        kept_uri=str(folder / "kept-points"),
        run_id="run",
    )
    return Snapshot(manifest)


def point(page: str, text: str | None, index: int = 0, **payload: Any) -> dict[str, Any]:
    """The payload of a chunk."""
    return {"source_url": page, "text": text, "chunk_index": index, **payload}


def subjects(found: Measurement, code: str) -> list[str]:
    """Subjects of a code; none when it is not named."""
    return [subject.name for finding in found.findings if finding.code == code for subject in finding.subjects]


def value(found: Measurement, name: str) -> float | None:
    """Value of a criterion."""
    measured_value = found.value(name)
    assert measured_value is not None
    return measured_value.value
