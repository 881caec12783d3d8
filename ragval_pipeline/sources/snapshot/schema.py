"""The columns of the snapshot: one row a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

#: Canonical fields that become text columns; a number is kept as its text.
TEXT_FIELDS = ("text", "source_url", "title", "module", "chapter", "chunk_id", "text_hash", "model", "embedded_at")
INTEGER_FIELDS = ("token_count", "chunk_index", "original_length")
LIST_FIELDS = ("headings",)

#: What each column holds, for the column schema that Dagster shows.
COLUMNS: dict[str, str] = {
    "point_id": "Point id as text; UUIDs lower-case with dashes",
    "page_key": "Canonical form of source_url; null when the point names no source",
    "page_url": "The in-scope sitemap page that the point belongs to, as the sitemap spells it; null when none",
    "text": "Chunk text as stored",
    "embedded_text": "What the framework embedded, where it is not the text itself",
    "source_url": "Source URL as stored",
    "title": "Page title as stored",
    "module": "Module as stored",
    "chapter": "Chapter as stored",
    "chunk_id": "Payload id as stored",
    "text_hash": "Text hash as stored",
    "model": "Embedding model as stored",
    "embedded_at": "Time of embedding as stored",
    "token_count": "Claimed tokens; null when it is no whole number",
    "chunk_index": "Position in the page from 0; null when it is no whole number",
    "original_length": "Claimed length of the page; null when it is no whole number",
    "headings": "Heading path; a single text becomes a list of one",
    "text_sha256": "SHA-256 of the text as stored, hex",
    "text_chars": "Characters of the text; null when there is none",
    "odd": "JSON of the values that their typed column cannot hold, by payload name",
}
KIND_PREFIX = "kind:"


def kind_column(field: str) -> str:
    """Column that holds the kind of the payload field ``field`` (a payload name)."""
    return f"{KIND_PREFIX}{field}"


def arrow_schema(tracked: Sequence[str]) -> pa.Schema:
    """Arrow schema of the parts: the columns above, and one dictionary column a tracked payload field."""
    import pyarrow as pa

    types = {
        **dict.fromkeys(COLUMNS, pa.string()),
        **dict.fromkeys((*INTEGER_FIELDS, "text_chars"), pa.int64()),
        "headings": pa.list_(pa.string()),
    }
    kinds = {kind_column(field): pa.dictionary(pa.int8(), pa.string()) for field in tracked}
    return pa.schema(list({**types, **kinds}.items()))
