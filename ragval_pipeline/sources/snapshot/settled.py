"""A snapshot after the pages are read: they may have given addresses that points are stored under."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.snapshot.buckets import BucketWriter, read_parts
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest

if TYPE_CHECKING:
    from upath import UPath


def stored_pages(manifest: SnapshotManifest) -> set[str]:
    """Canonical forms of the addresses of all points."""
    found: set[str] = set()
    for batch in read_parts(manifest.folder(), manifest.parts, ["page_key"]):
        found.update(key for key in pc.unique(batch.column("page_key")).to_pylist() if key is not None)
    return found


def with_pages(
    manifest: SnapshotManifest, page_key: Callable[[str], str], pages: Mapping[str, str], folder: UPath
) -> SnapshotManifest:
    """The snapshot with each point's page by another canonicaliser: written anew, since pages decide the buckets.

    Args:
        manifest: The snapshot; its staged parts are removed.
        page_key: Canonical form of a page, also of what was a canonical form before.
        pages: In-scope pages by canonical form, as written in the sitemap.
        folder: Where the parts go.
    """
    before = manifest.folder()
    folder.mkdir(parents=True, exist_ok=True)
    schema = next(read_parts(before, manifest.parts[:1])).schema
    with BucketWriter(folder, schema, manifest.buckets) as writer:
        for batch in read_parts(before, manifest.parts):
            once = batch.column("page_key").dictionary_encode()
            keys = [key if key is None else page_key(key) for key in once.dictionary.to_pylist()]
            columns = {
                "page_key": array_of(keys, pa.string()).take(once.indices),
                "page_url": array_of([pages.get(key or "") for key in keys], pa.string()).take(once.indices),
            }
            arrays = [columns.get(name, batch.column(name)) for name in schema.names]
            settled = pa.RecordBatch.from_arrays(arrays, schema=schema)
            writer.add(settled, pc.coalesce(settled.column("page_key"), settled.column("point_id")))
        parts = writer.close()
    for part in manifest.parts:
        (before / part.name).unlink()
    return manifest.model_copy(update={"parts": parts, "staged_uri": str(folder)})
