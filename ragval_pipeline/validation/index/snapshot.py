"""What the read of a collection tells about it: that it is empty, or changed meanwhile.

What lives here: findings about the read. What does not: the collection's configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.detectors import detector


@detector("index.empty", "index.changed_during_read", needs=SnapshotManifest)
def find_in_read(manifest: SnapshotManifest) -> Iterator[Finding]:
    """That there was nothing to read, or that it changed meanwhile."""
    name = manifest.facts.name
    if not manifest.points and not manifest.count_after:
        yield make_finding("index.empty", [name])
        return
    counts = {"before": manifest.count_before, "read": manifest.points, "after": manifest.count_after}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{count} {when}" for when, count in counts.items())
        yield make_finding("index.changed_during_read", [name], details=counts, cause=f"Points counted: {shown}.")


def index_section(manifest: SnapshotManifest) -> dict[str, object]:
    """The report's ``index``: facts about the collection and about the read."""
    return {
        **manifest.facts.model_dump(mode="json"),
        "points_read": manifest.points,
        "read_seconds": manifest.seconds,
        "observed_fields": list(manifest.observed),
    }
