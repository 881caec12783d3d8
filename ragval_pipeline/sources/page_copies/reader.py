"""Reading page copies back, a part at a time.

What lives here: access to parts. What does not: what is computed from them (``validation``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.page_copies.record import PageRecord, record_from

if TYPE_CHECKING:
    from upath import UPath


class PageCopies:
    """The page copies of one read of a site."""

    def __init__(self, manifest: PageCopiesManifest) -> None:
        self.manifest = manifest

    def folder(self) -> UPath:
        """Where the parts are: in the run's evidence once its report is written, before that where they were staged.

        Raises:
            FileNotFoundError: The parts are in neither place.
        """
        from upath import UPath

        for uri in (self.manifest.kept_uri, self.manifest.staged_uri):
            folder = UPath(uri)
            if not self.manifest.parts or (folder / self.manifest.parts[0].name).exists():
                return folder
        raise FileNotFoundError(
            f"the page copies of run {self.manifest.run_id} are gone from {self.manifest.kept_uri}: read the pages anew"
        )

    def groups(self) -> Iterator[list[PageRecord]]:
        """Pages in the sitemap's order, a part in memory at a time."""
        import pyarrow.parquet as pq

        folder = self.folder()
        for part in self.manifest.parts:
            with (folder / part.name).open("rb") as file:
                table = pq.read_table(file)
            yield [record_from(row) for row in table.to_pylist()]

    def records(self) -> Iterator[PageRecord]:
        """Every page, in the sitemap's order."""
        for group in self.groups():
            yield from group
