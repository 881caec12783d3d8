"""A small site and its chunks, compared by the real parts. Not a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from upath import UPath

from ragval_pipeline.measuring.facts.files import StoredFacts
from ragval_pipeline.measuring.facts.make import make_facts
from ragval_pipeline.sources.site.page_copies.copies import PageCopies, PageRecord, record_of
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.site.page_copies.writer import take_copies
from ragval_pipeline.sources.site.page_reader import PageCopy, PageReader
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.snapshot.writer import take_snapshot
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.suite.payload import PayloadSettings
from ragval_pipeline.suite.sections import ScaleSettings
from ragval_pipeline.validation.chunks.content import (
    common_digests,
    cut_chunks,
    lost_headings,
    lost_passages,
)
from ragval_pipeline.validation.chunks.integrity import measure_integrity
from ragval_pipeline.validation.facts.bucket import facts_of_page
from ragval_pipeline.validation.facts.rows import ChunkFacts, PageFacts
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.facts.tables import page_table
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


def record(content: str, *, page: str = "/a", **facts: Any) -> PageRecord:
    """The copy of a page with this content."""
    url = absolute(page)
    return record_of(PageCopy(url, html=html(content), **facts), site(page).folder().key(url))


@dataclass(frozen=True)
class Seen:
    """One page and its chunks, as facts and what is read off them."""

    page: PageFacts
    chunks: list[ChunkFacts]

    @property
    def passages(self) -> list[str]:
        return [block.text for block in lost_passages(self.page.blocks)]

    @property
    def headings(self) -> list[str]:
        return [block.text for block in lost_headings(self.page.blocks, self.chunks)]

    @property
    def differing(self) -> list[ChunkFacts]:
        return [chunk for chunk in self.chunks if chunk.found < chunk.letters or chunk.joins]

    @property
    def content(self) -> int:
        return sum(block.letters for block in self.page.blocks)

    @property
    def captured(self) -> int:
        return sum(block.held for block in self.page.blocks)

    @property
    def cut(self) -> list[str]:
        return cut_chunks(self.chunks, self.page.blocks)

    def without(self, common: frozenset[int]) -> Seen:
        """The same without blocks that stand on most pages."""
        blocks = tuple(block for block in self.page.blocks if block.digest not in common)
        return replace(self, page=replace(self.page, blocks=blocks))


def compared(content: str, *chunks: str, **payload: Any) -> Seen:
    """Page ``/a`` against its chunks."""
    return Seen(*facts_of_page(record(content), texts(*chunks, **payload)))


def on_most_pages(*pages: str) -> frozenset[int]:
    """What stands on most of some pages."""
    return common_digests(page_table([compared(content).page for content in pages]).to_batches())


class Collection:
    """The points of a collection as its reader gives them."""

    place = "points"

    def __init__(self, payloads: list[dict[str, Any]]) -> None:
        self._points = [Point(str(number), payload) for number, payload in enumerate(payloads)]

    def facts(self) -> CollectionFacts:
        return CollectionFacts(name="points", points_count=len(self._points))

    def count(self) -> int:
        return len(self._points)

    def way(self, facts: CollectionFacts) -> str:
        return "pages"

    def scan(self, fields: Any, way: str, *, points: int) -> Any:
        return self.pages(fields)

    def pages(self, fields: Any) -> Any:
        return iter([self._points] if self._points else [])


def measured(folder: Path, pages: Mapping[str, str | None], *payloads: dict[str, Any]) -> Measurement:
    """A site of these pages, null for one without a file, measured against points with ids from 0."""
    return measure_integrity(facts_of(folder, pages, *payloads))


def facts_of(folder: Path, pages: Mapping[str, str | None], *payloads: dict[str, Any]) -> Facts:
    """The facts of such a site and points."""
    snapshot, copies = snapshot_of(folder, pages, *payloads), copies_of(folder, pages)
    return made(folder, snapshot, copies)


def made(folder: Path, snapshot: Snapshot, copies: PageCopies) -> Facts:
    """The facts of a snapshot and copies of pages."""
    return StoredFacts(
        make_facts(snapshot, copies, folder=UPath(folder / "facts"), kept_uri=str(folder / "kept"), run_id="run")
    )


def copies_of(folder: Path, pages: Mapping[str, str | None], *, workers: int = 1) -> PageCopies:
    """The copies of a site in a folder."""
    root = folder / "site"
    root.mkdir(parents=True)
    for path, text in pages.items():
        if text is not None:
            file = root / f"{path.strip('/')}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    inventory = site(*pages)
    reader = PageReader(site_root=root, base_path=None, fetcher=None, folder=inventory.folder())
    manifest: PageCopiesManifest = take_copies(
        inventory, reader, max_pages=100, folder=UPath(folder / "pages"), kept_uri=str(folder / "kept"), run_id="run",
        scale=ScaleSettings(workers=workers),
    )  # fmt: skip
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


SECTIONS = f"<h1>Using the arm</h1><p>{GRIPPER}</p><h2>Camera care</h2><p>{CAMERA}</p><h2>Power</h2><p>{BATTERY}</p>"
CHUNKS = (f"Using the arm\n{GRIPPER}", f"Camera care\n{CAMERA}", f"Power\n{BATTERY}")

PAGES: dict[str, str | None] = {
    "/a": html(paragraphs(GRIPPER, CAMERA)),
    "/b": html(paragraphs(BATTERY)),
    "/c": html(paragraphs(VISITORS)),
}
POINTS = (point("/a", GRIPPER, 0), point("/a", CAMERA, 1), point("/b", BATTERY), point("/c", VISITORS))


def changed(to: dict[int, str]) -> list[dict[str, Any]]:
    """``POINTS`` with other texts, by number."""
    return [{**entry, "text": to.get(number, entry["text"])} for number, entry in enumerate(POINTS)]


def codes(found: Any) -> set[str]:
    """Codes of what was found."""
    return {finding.code for finding in found.findings}


def detail(found: Any, code: str) -> dict[str, Any]:
    """Details of a finding's first subject."""
    return dict(next(finding for finding in found.findings if finding.code == code).subjects[0].details)
