"""``content_integrity``: whether each chunk stands on its page, and each page's content in its chunks."""

from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.measurement import Measurement


def compare_content(pages: PageCopiesManifest, manifest: SnapshotManifest) -> Measurement:
    """Compare the chunks of a collection with the pages that they come from."""
    from ragval_pipeline.sources.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.integrity.measure import measure_integrity

    return measure_integrity(PageCopies(pages), Snapshot(manifest))
