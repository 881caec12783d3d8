"""What a snapshot consists of."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts


class Part(BaseModel):
    """One Parquet file of a snapshot.

    Attributes:
        name: File name.
        rows: Its rows.
        bucket: The bucket that its pages are in (``buckets.bucket_of``).
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    rows: int
    bucket: int = 0


class SnapshotManifest(BaseModel):
    """A snapshot: where its parts are and what was read.

    Args:
        run_id: Run that read it.
        staged_uri: Folder that the parts were written to.
        kept_uri: Folder that the parts are moved to when the run's report is written.
        parts: The Parquet files, one a bucket of pages.
        buckets: How many buckets there are, a power of two; empty ones have no part.
        points: Rows in all parts.
        count_before: Exact number of points before the read.
        count_after: Exact number of points after the read.
        facts: What Qdrant said of the collection before the read.
        fields: Canonical name to payload name.
        required: Payload names that every point must hold.
        observed: Payload names seen in the first points, dotted where nested.
        seconds: Duration of the read.
        tries: Calls made, retries included.
        way: How the points were read: page after page, or several requests at a time.
        repeated: Points that came more than once.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: str
    staged_uri: str
    kept_uri: str
    parts: tuple[Part, ...]
    buckets: int = 1
    points: int
    count_before: int
    count_after: int
    facts: CollectionFacts
    fields: dict[str, str]
    required: tuple[str, ...]
    observed: tuple[str, ...] = ()
    seconds: float = 0.0
    tries: int = 0
    way: Literal["slices", "ranges", "pages"] = "pages"
    repeated: int = 0
