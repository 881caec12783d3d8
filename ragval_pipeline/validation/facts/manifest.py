"""The manifest of a run's facts. Making (``make``) and reading (``store``) them does not live here."""

from __future__ import annotations

from typing import ClassVar, Literal

from ragval_pipeline.sources.kept.evidence import KeysManifest
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import KeptParts, Part, SnapshotManifest

#: One row per chunk (``ChunkFacts``), or per page (``PageFacts``).
Table = Literal["chunks", "pages"]


class FactsManifest(KeptParts):
    """The facts of a run, and their sources; each table has one file per bucket.

    Attributes:
        points: The snapshot.
        copies: The pages.
        crash: Type of the exception that ended making them, or empty.
        problem: Readable message of that exception, or empty for a defect.
        units: Number of pages, with their chunks, and of single points without a page.
        reused: Those of them whose facts are an earlier run's, because nothing has changed.
        seconds: How long it took.
        kept: What a later run needs to read them where nothing has changed; None: it computes them.
    """

    _gone: ClassVar[str] = "the facts of run {run} are gone from {place}: create them again"

    points: SnapshotManifest
    copies: PageCopiesManifest
    crash: str = ""
    problem: str = ""
    units: int = 0
    reused: int = 0
    seconds: float = 0.0
    kept: KeysManifest | None = None

    def files(self, table: Table) -> list[Part]:
        """The files of a table."""
        return [part for part in self.parts if part.name.startswith(table)]
