"""Reading page copies back, a part at a time.

What lives here: access to parts. What does not: what is computed from them (``validation``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.page_copies.record import PageRecord, record_from
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

    def groups(self) -> Iterator[list[PageRecord]]:
        """Pages in the sitemap's order, a part in memory at a time."""
        import pyarrow.parquet as pq

        folder = self.folder()
        for part in self.manifest.parts:
            with (folder / part.name).open("rb") as file:
                table = pq.read_table(file)
            yield [record_from(row) for row in table.to_pylist()]

    def rows(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Some columns of every page, in the sitemap's order, a part in memory at a time."""
        import pyarrow.parquet as pq

        folder = self.folder()
        for part in self.manifest.parts:
            with (folder / part.name).open("rb") as file:
                yield from pq.read_table(file, columns=list(columns)).to_pylist()

    def records(self) -> Iterator[PageRecord]:
        """Every page, in the sitemap's order."""
        for group in self.groups():
            yield from group
