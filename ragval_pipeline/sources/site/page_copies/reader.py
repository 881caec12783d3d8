"""Reading page copies back, a part at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.site.page_copies.record import PageRecord, records_from
from ragval_pipeline.sources.snapshot.buckets import in_bucket, read_parts
from ragval_pipeline.sources.snapshot.parts import folder_of_parts

if TYPE_CHECKING:
    from upath import UPath


class PageCopies:
    """The page copies of one read of a site."""

    def __init__(self, manifest: PageCopiesManifest) -> None:
        self.manifest = manifest

    def folder(self) -> UPath:
        """Where the parts are.

        Raises:
            FileNotFoundError: They are neither in the run's evidence nor where they were staged.
        """
        read = self.manifest
        gone = f"the page copies of run {read.run_id} are gone from {read.kept_uri}: read the pages anew"
        return folder_of_parts(read.parts, kept_uri=read.kept_uri, staged_uri=read.staged_uri, gone=gone)

    def rows(
        self, columns: Sequence[str] | None = None, *, bucket: int = 0, buckets: int = 1
    ) -> Iterator[dict[str, Any]]:
        """Some columns of every page, bucket by bucket.

        Args:
            columns: Names of columns; None: all.
            bucket: The bucket whose pages are read.
            buckets: How many buckets it is one of: a power of two, not more than the copies have; 1 for all pages.
        """
        parts = in_bucket(self.manifest.parts, bucket, buckets)
        for batch in read_parts(self.folder(), parts, None if columns is None else list(columns)):
            yield from batch.to_pylist()

    def records_of(self, keys: Collection[str]) -> Iterator[PageRecord]:
        """The pages with these keys."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(sorted(keys), pa.string())
        for batch in read_parts(self.folder(), self.manifest.parts, None):
            yield from records_from(batch.filter(pc.is_in(batch.column("page_key"), value_set=wanted)))

    def records(self, *, bucket: int = 0, buckets: int = 1) -> Iterator[PageRecord]:
        """Every page; arguments as of ``rows``."""
        for batch in read_parts(self.folder(), in_bucket(self.manifest.parts, bucket, buckets), None):
            yield from records_from(batch)
