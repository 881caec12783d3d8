"""The parts and columns of a snapshot, with one row per point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.lazy import pa
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.sources.stores.qdrant.protocol import Way

if TYPE_CHECKING:
    from upath import UPath


class Part(BaseModel):
    """One Parquet file of a snapshot.

    ``bucket`` is that of its pages (``buckets.bucket_of``).
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    rows: int
    bucket: int = 0


class KeptParts(BaseModel):
    """Parquet parts of a run, and their location.

    Attributes:
        run_id: Run that read them.
        staged_uri: Folder that the parts were written to.
        kept_uri: Folder that the parts are moved to when the run's report is written.
        parts: The Parquet files, one per bucket.
        buckets: Number of buckets, a power of two; empty ones have no part.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)
    #: Message if they are in neither place, with the run, its origin, and the remedy.
    _gone: ClassVar[str]

    run_id: str
    staged_uri: str = ""
    kept_uri: str = ""
    parts: tuple[Part, ...] = ()
    buckets: int = 1

    def folder(self) -> UPath:
        """Where the parts are.

        Raises:
            FileNotFoundError: They are neither in the run's evidence nor where they were staged.
        """
        from upath import UPath

        for uri in (self.kept_uri, self.staged_uri):
            folder = UPath(uri)
            # Stores without folders copy parts one by one: an incomplete set must not be used.
            if all((folder / part.name).exists() for part in self.parts):
                return folder
        raise FileNotFoundError(self._gone.format(run=self.run_id, place=self.kept_uri))


class PrintsManifest(KeptParts):
    """The prints of all points, to compare a later read with; ``sources.snapshot.sameness`` writes and reads them."""

    _gone: ClassVar[str] = "the prints of the points of run {run} are gone from {place}: take a new snapshot"


class SnapshotManifest(KeptParts):
    """A snapshot's metadata and parts.

    Attributes:
        points: Rows in all parts.
        count_before: Exact number of points before the read.
        count_after: Exact number of points after the read.
        facts: Qdrant's facts about the collection before the read.
        fields: Canonical name to payload name.
        required: Payload names that every point must have.
        observed: Payload names seen in the first points, dotted where nested.
        seconds: Duration of the read.
        way: How the points were read.
        repeated: Points received more than once, and used once.
        read: Payload names that were read.
        prints: Prints of payloads and vectors, in id order; None: a later read cannot be compared with this one.
        left_out: Why points of the collection do not pass the suite's filter.
        set_aside: Ids of points that are in the parts and are not judged, because they changed later.
    """

    _gone: ClassVar[str] = "the snapshot of run {run} is gone from {place}: take a new one"

    points: int
    count_before: int
    count_after: int
    facts: CollectionFacts
    fields: dict[str, str]
    required: tuple[str, ...]
    observed: tuple[str, ...] = ()
    seconds: float = 0.0
    way: Way = "pages"
    repeated: int = 0
    read: tuple[str, ...] = ()
    prints: PrintsManifest | None = None
    left_out: tuple[LeftOut, ...] = ()
    set_aside: tuple[str, ...] = ()


#: Canonical fields stored as text columns; numbers become texts.
TEXT_FIELDS = (
    "text", "source_url", "title", "module", "chapter", "chunk_id", "parent_id", "text_hash", "model", "embedded_at",
)  # fmt: skip
INTEGER_FIELDS = ("token_count", "chunk_index", "original_length")
LIST_FIELDS = ("headings",)

#: What each column holds, for the column schema that Dagster shows.
COLUMNS: dict[str, str] = {
    "point_id": "Point id as text; UUIDs lower-case with dashes",
    "page_key": "Canonical form of source_url; null when the point has no source",
    "page_url": "The in-scope sitemap page that the point belongs to, as written in the sitemap; null when none",
    "text": "Chunk text as stored",
    "embedded_text": "Embedded text according to framework or suite, if it is not the text itself",
    "source_url": "Source URL as stored",
    "title": "Page title as stored",
    "module": "Module as stored",
    "chapter": "Chapter as stored",
    "chunk_id": "Payload id as stored",
    "parent_id": "Id of the parent chunk, as stored",
    "text_hash": "Text hash as stored",
    "model": "Embedding model as stored",
    "embedded_at": "Time of embedding as stored",
    "token_count": "Claimed tokens; null when not a whole number",
    "chunk_index": "Position in the page from 0; null when not a whole number",
    "original_length": "Claimed length of the page; null when not a whole number",
    "headings": "Heading path; a single text becomes a list of one",
    "text_sha256": "SHA-256 of the text as stored, hex",
    "text_chars": "Characters of the text; null when there is none",
    "labels": "JSON of short values of fields that no canonical name reads, by payload path; null when there are none",
    "beside": "Short texts of fields that no canonical name reads, which may be headings; null when there are none",
    "odd": "JSON of the values that do not fit their typed column, by payload name",
    "extra": "JSON of the payload fields that the suite's rules read, of the point's partition, and of its document's "
    "version, by name; null when the point has none",
}
KIND_PREFIX = "kind:"


def kind_column(field: str) -> str:
    """Column that holds the kind of the payload field ``field`` (a payload name)."""
    return f"{KIND_PREFIX}{field}"


def arrow_schema(tracked: Sequence[str]) -> pa.Schema:
    """Arrow schema of the parts: the columns above, and one dictionary column per tracked payload field."""
    types = {
        **dict.fromkeys(COLUMNS, pa.string()),
        **dict.fromkeys((*INTEGER_FIELDS, "text_chars"), pa.int64()),
        **dict.fromkeys((*LIST_FIELDS, "beside"), pa.list_(pa.string())),
    }
    kinds = {kind_column(field): pa.dictionary(pa.int8(), pa.string()) for field in tracked}
    return pa.schema(list({**types, **kinds}.items()))
