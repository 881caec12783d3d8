"""What the read of a collection tells about it: that it is empty, or changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.since import Since
from ragval_pipeline.validation.detectors import detector


@dataclass(frozen=True)
class PointsRead:
    """The snapshot, and what became of its points.

    Attributes:
        manifest: The snapshot.
        since: What became of the points until the end of the run; None: nobody looked.
    """

    manifest: SnapshotManifest
    since: Since | None = None


@detector("index.empty", "index.changed_during_read", needs=PointsRead)
def find_in_read(read: PointsRead) -> Iterator[Finding]:
    """That there was nothing to read, or that it changed meanwhile."""
    manifest, since = read.manifest, read.since
    name = manifest.facts.name
    if not manifest.points and not (since.count if since else manifest.count_after):
        yield make_finding("index.empty", [name])
        return
    counts = _counts(manifest, since)
    shown = ", ".join(f"{count} {when}" for when, count in counts.items())
    if _holds_ids_twice(manifest, counts) and not (since and since.has_changed):
        yield make_finding(
            "index.changed_during_read", [name], details=counts,
            message=f"Of {manifest.count_before} points, {manifest.points} have an id of their own.",
            cause="The same ids stand under several shard keys: each is counted, and one of them is read.",
            remedy="Give points of different shard keys different ids.",
        )  # fmt: skip
    elif len(set(counts.values())) > 1 or (since and since.has_changed):
        told = {"gone": since.gone, "come": since.come, "rewritten": since.rewritten} if since and since.moved else {}
        which = f" Since the read: {', '.join(f'{count} {what}' for what, count in told.items())}." if told else ""
        if since and since.altered and not told:
            which = " Since the read, payloads, vectors or settings have become others."
        cause = f"Points counted: {shown}.{which}"
        yield make_finding("index.changed_during_read", [name], details={**counts, **told}, cause=cause)


def _holds_ids_twice(manifest: SnapshotManifest, counts: dict[str, int]) -> bool:
    """Whether a constant count above what was read comes from ids that several shards hold."""
    constant = {count for when, count in counts.items() if when != "read"}
    return manifest.facts.sharding == "custom" and len(constant) == 1 and manifest.points < max(constant)


def changed_while_judged(manifest: SnapshotManifest, since: Since | None) -> str:
    """Why a gate cannot be met: parts of the run have seen other points than the rest; empty when all saw the same.

    How many points the read gave does not count: one id under two shard keys is read once and counted twice.
    """
    counts = {when: count for when, count in _counts(manifest, since).items() if when != "read"}
    if len(set(counts.values())) == 1 and not (since and since.has_changed):
        return ""
    shown = ", ".join(f"{count} {when}" for when, count in counts.items())
    moved = f", {since.moved} of them not what was read" if since and since.moved else ""
    if since and since.altered and not moved:
        moved = ", with other payloads, vectors or settings than were read"
    return f"the collection changed while it was validated (points: {shown}{moved})"


def _counts(manifest: SnapshotManifest, since: Since | None) -> dict[str, int]:
    counts = {"before": manifest.count_before, "read": manifest.points, "after": manifest.count_after}
    return {**counts, **({"at_the_end": since.count} if since else {})}


def index_section(manifest: SnapshotManifest, since: Since | None = None) -> dict[str, object]:
    """The report's ``index``: facts about the collection and about the read."""
    return {
        **({"points_at_the_end": since.count} if since else {}),
        **manifest.facts.model_dump(mode="json"),
        "points_read": manifest.points,
        "points_read_by": manifest.way,
        "points_read_twice": manifest.repeated,
        "read_seconds": manifest.seconds,
        "observed_fields": list(manifest.observed),
    }
