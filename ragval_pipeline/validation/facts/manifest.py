"""What the facts of a run consist of. Making and reading them does not live here (``store``)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest


class FactsManifest(BaseModel):
    """The facts of a run, and what they were made of.

    Attributes:
        run_id: Run that made them.
        staged_uri: Folder that the files were written to.
        kept_uri: Folder that they are moved to when the run's report is written.
        chunks: Files with a row a chunk (``ChunkFacts``), one a bucket.
        pages: Files with a row a page (``PageFacts``), one a bucket.
        points: The snapshot.
        copies: The pages.
        crash: Type of the exception that ended making them, when it was a defect; else empty.
        problem: What that exception says to a person; empty when it says nothing.
        seconds: How long it took.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: str
    staged_uri: str = ""
    kept_uri: str = ""
    chunks: tuple[Part, ...] = ()
    pages: tuple[Part, ...] = ()
    points: SnapshotManifest
    copies: PageCopiesManifest
    crash: str = ""
    problem: str = ""
    seconds: float = 0.0
