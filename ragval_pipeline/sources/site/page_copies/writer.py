"""Reading a site's pages into a folder of Parquet parts, page by page, so that memory stays flat."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.memory import sparing_memory
from ragval_pipeline.sources.site.inventory import SiteInventory, SitePage
from ragval_pipeline.sources.site.of_suite import PageCopy, ReadsPages, read_pages
from ragval_pipeline.sources.site.page_copies.copies import PageRecord, arrow_schema, batch_of, record_of
from ragval_pipeline.sources.site.page_copies.manifest import HostFailure, PageCopiesManifest
from ragval_pipeline.sources.site.page_reader import SYSTEM
from ragval_pipeline.sources.snapshot.buckets import BucketWriter, buckets_for

if TYPE_CHECKING:
    from upath import UPath

#: Pages of a bucket: what later steps hold in memory at a time.
PAGES_PER_BUCKET = 256
#: Pages that are made into rows at once.
_BATCH = 64


@dataclass
class _Tally:
    """What was read so far, and why reading ended."""

    pages: int = 0
    readable: int = 0
    gone: int = 0
    failed: int = 0
    failure: SystemFailure | None = None
    hashes: hashlib._Hash = field(default_factory=hashlib.sha256)

    def count(self, record: PageRecord, *, host_failed: bool) -> None:
        self.pages += 1
        self.gone += record.status in (404, 410)
        self.failed += host_failed
        self.readable += bool(record.body)
        self.hashes.update(f"{record.page_key}\t{record.sha256 or record.problem}\n".encode())


def take_copies(
    inventory: SiteInventory,
    reader: ReadsPages,
    *,
    max_pages: int | None,
    folder: UPath,
    kept_uri: str,
    run_id: str,
    min_readable: float = 0.0,
    on_progress: Callable[[int, int], None] | None = None,
) -> PageCopiesManifest:
    """Read every in-scope page into Parquet parts.

    Args:
        inventory: The site.
        reader: Reads one page.
        max_pages: Limit of pages; those after it are left out. None: all are read.
        folder: Where the parts go; made if it is not there.
        kept_uri: Where the parts will be in the end.
        run_id: The run that reads.
        min_readable: Share of the pages, 0..1, that must be readable; reading ends when the host fails for more.
        on_progress: Called with pages read and pages to read.

    Returns:
        The manifest. When the page host fails, its ``failure`` says so: nothing is raised, because everything that
        needs no page can still be measured.
    """
    started = time.monotonic()
    pages = inventory.in_scope
    most = len(pages) if max_pages is None else max_pages
    tally = _Tally()
    folder.mkdir(parents=True, exist_ok=True)
    records = _records(pages, reader, most, min_readable, tally, on_progress)
    buckets = buckets_for(min(len(pages), most), PAGES_PER_BUCKET)
    with sparing_memory(), BucketWriter(folder, arrow_schema(), buckets) as writer:
        while some := list(islice(records, _BATCH)):
            batch = batch_of(some)
            writer.add(batch, batch.column("page_key"))
        parts = writer.close()
    return PageCopiesManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        parts=parts,
        buckets=writer.buckets,
        pages=tally.pages,
        readable=tally.readable,
        gone=tally.gone,
        min_readable=min_readable,
        left_out=max(0, len(pages) - most),
        fingerprint=tally.hashes.hexdigest(),
        failure=HostFailure.of(tally.failure) if tally.failure else None,
        seconds=time.monotonic() - started,
    )


def _records(
    pages: Sequence[SitePage],
    reader: ReadsPages,
    max_pages: int,
    min_readable: float,
    tally: _Tally,
    on_progress: Callable[[int, int], None] | None,
) -> Iterator[PageRecord]:
    keys = {page.url: page.key for page in pages}
    copies = read_pages([page.url for page in pages], reader, max_pages=max_pages, on_progress=on_progress)
    expected = min(len(pages), max_pages)
    try:
        for copy in copies:
            record = record_of(copy, keys[copy.url])
            tally.count(record, host_failed=copy.host_failed)
            yield record
            # One page of several that fails is a broken page; of a small site it may be more than the share.
            fails_alone = tally.failed == 1 < expected
            if tally.failed > (1 - min_readable) * expected + 1e-9 and not fails_alone:  # rounding
                raise _failing(copy, tally, expected, min_readable)
    except SystemFailure as failure:
        tally.failure = failure


def _failing(copy: PageCopy, tally: _Tally, expected: int, min_readable: float) -> SystemFailure:
    """The failure of a host that keeps too many pages back: what is left is a sample that nobody chose."""
    return SystemFailure(
        f"failed for {tally.failed} of {expected} pages, at last because {copy.problem}",
        code="source.unreachable",
        system=SYSTEM,
        subject=copy.url,
        remedy=f"Repair the host; source.min_readable is {min_readable:g}",
        details={"failed": tally.failed, "pages": expected, "status": copy.status},
    )
