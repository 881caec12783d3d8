"""Reading a site's pages into a folder of Parquet parts, page by page, so that memory stays flat."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.rules.source.unreachable import RULE as SOURCE_UNREACHABLE
from ragval_pipeline.sources.arrow import constant
from ragval_pipeline.sources.kept.evidence import Earlier
from ragval_pipeline.sources.kept.pages import KeptPages
from ragval_pipeline.sources.memory import sparing_memory
from ragval_pipeline.sources.site.inventory import HostFailure, SiteInventory, SitePage
from ragval_pipeline.sources.site.of_suite import ReadsPages, read_pages
from ragval_pipeline.sources.site.page_copies.addresses import other_addresses
from ragval_pipeline.sources.site.page_copies.copies import TEXTS, arrow_schema, rows_of
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.site.page_reader import SYSTEM, PageCopy
from ragval_pipeline.sources.snapshot.buckets import BucketWriter, buckets_for
from ragval_pipeline.sources.workers import each_done
from ragval_pipeline.suite.sections import ScaleSettings

if TYPE_CHECKING:
    from upath import UPath

#: Pages per bucket: later steps hold one in memory at a time.
PAGES_PER_BUCKET = 256
#: Pages converted to rows at once.
_BATCH = 64
#: A page's weight in points for the choice of workers, which later make the points' facts.
CHUNKS_A_PAGE = 8


@dataclass
class _Tally:
    """Progress of reading, and why it ended."""

    pages: int = 0
    gone: int = 0
    failed: int = 0
    failure: SystemFailure | None = None
    hashes: hashlib._Hash = field(default_factory=hashlib.sha256)
    given: list[tuple[str, str]] = field(default_factory=list)

    def count(self, copy: PageCopy, page_key: str) -> None:
        self.pages += 1
        self.gone += copy.status in (404, 410)
        self.failed += copy.host_failed
        self.given += [(other, page_key) for other in (copy.target_key, copy.named_key) if other is not None]
        self.hashes.update(f"{page_key}\t{copy.sha256 or copy.problem}\n".encode())


def take_copies(
    inventory: SiteInventory,
    reader: ReadsPages,
    *,
    max_pages: int | None,
    folder: UPath,
    kept_uri: str,
    run_id: str,
    min_readable: float = 0.0,
    scale: ScaleSettings | None = None,
    earlier: Earlier | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> PageCopiesManifest:
    """Read every in-scope page into Parquet parts.

    ``folder`` is created if missing; the parts are moved to ``kept_uri`` later. Reading ends if the host fails for more
    than the share 1 - ``min_readable`` of the pages. ``earlier`` is a run whose texts are used for pages
    that are as they were.

    Returns:
        The manifest. If the page host fails, its ``failure`` says so: nothing is raised, because everything that needs
        no page can still be measured.
    """
    started = time.monotonic()
    pages = inventory.in_scope
    most = len(pages) if max_pages is None else max_pages
    tally = _Tally()
    folder.mkdir(parents=True, exist_ok=True)
    copies = _copies(pages, reader, most, min_readable, tally, on_progress)
    expected, readable = min(len(pages), most), 0
    buckets = buckets_for(expected, PAGES_PER_BUCKET)
    known = None if earlier is None else KeptPages.of(earlier, TEXTS, buckets=buckets)
    unread = (_left_to_parse(copy, key, known) for copy, key in copies)
    some = iter(lambda: list(islice(unread, _BATCH)), [])

    def finish(bucket: int, rows: pa.Table) -> pa.Table:
        nonlocal readable
        rows = rows.combine_chunks() if known is None else known.completed(bucket, rows)
        readable += pc.sum(pc.greater(pc.binary_length(rows.column("body")), constant(0))).as_py()
        return rows

    with sparing_memory(), BucketWriter(folder, arrow_schema(), buckets, finish=finish) as writer:
        for batch in each_done(rows_of, some, scale or ScaleSettings(workers=1), weight=CHUNKS_A_PAGE * expected):
            writer.add(batch, batch.column("page_key"))
        parts = writer.close()
    return PageCopiesManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        parts=parts,
        buckets=writer.buckets,
        pages=tally.pages,
        readable=readable,
        gone=tally.gone,
        min_readable=min_readable,
        left_out=max(0, len(pages) - most),
        addresses=other_addresses(tally.given, {page.key for page in inventory.pages}),
        fingerprint=tally.hashes.hexdigest(),
        failure=HostFailure.of(tally.failure) if tally.failure else None,
        seconds=time.monotonic() - started,
    )


def _left_to_parse(copy: PageCopy, key: str, kept: KeptPages | None) -> tuple[PageCopy, str]:
    """A page with the hash of its HTML, and without the HTML itself if an earlier run has parsed the same."""
    if copy.html is None:
        return copy, key
    found = blake2b(copy.html.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    is_kept = kept is not None and kept.take(key, found)
    return replace(copy, html_hash=found, html=None if is_kept else copy.html), key


def _copies(
    pages: Sequence[SitePage],
    reader: ReadsPages,
    max_pages: int,
    min_readable: float,
    tally: _Tally,
    on_progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[PageCopy, str]]:
    keys = {page.url: page.key for page in pages}
    urls = [page.url for page in pages]
    copies = read_pages(urls, reader, max_pages=max_pages, min_readable=min_readable, on_progress=on_progress)
    expected = min(len(pages), max_pages)
    try:
        for copy in copies:
            tally.count(copy, keys[copy.url])
            yield copy, keys[copy.url]
            # One page of several that fails is a broken page; of a small site it may be more than the share.
            fails_alone = tally.failed == 1 < expected
            if tally.failed > (1 - min_readable) * expected + 1e-9 and not fails_alone:  # rounding
                raise _failing(copy, tally, expected, min_readable)
    except SystemFailure as failure:
        tally.failure = failure


def _failing(copy: PageCopy, tally: _Tally, expected: int, min_readable: float) -> SystemFailure:
    """The failure of a host with too many unreadable pages: the rest would be a biased sample."""
    return SystemFailure(
        f"failed for {tally.failed} of {expected} pages; the last reason: {copy.problem}",
        code=SOURCE_UNREACHABLE.code,
        system=SYSTEM,
        subject=copy.url,
        remedy="Make the pages readable from this machine, or set source.site_root to the built site. A run needs most "
        f"of them: source.min_readable is {min_readable:g}.",
        details={"failed": tally.failed, "pages": expected, "status": copy.status},
    )
