"""What the facts of a run consist of. Making and reading them does not live here (``store``)."""

from __future__ import annotations

from typing import ClassVar, Literal

from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import KeptParts, Part, SnapshotManifest

#: A row a chunk (``ChunkFacts``), or a row a page (``PageFacts``).
Table = Literal["chunks", "pages"]


class FactsManifest(KeptParts):
    """The facts of a run, and what they were made of; each table has a file a bucket.

    Attributes:
        points: The snapshot.
        copies: The pages.
        crash: Type of the exception that ended making them, when it was a defect; else empty.
        problem: What that exception says to a person; empty when it says nothing.
        seconds: How long it took.
    """

    _gone: ClassVar[str] = "the facts of run {run} are gone from {place}: create them again"

    points: SnapshotManifest
    copies: PageCopiesManifest
    crash: str = ""
    problem: str = ""
    seconds: float = 0.0

    def files(self, table: Table) -> list[Part]:
        """The files of a table."""
        return [part for part in self.parts if part.name.startswith(table)]
