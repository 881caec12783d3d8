"""Is the collection ready to serve, was it read completely, and has it changed meanwhile?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragval_pipeline.findings.factory import PASSAGE, make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Since
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.names import unquoted
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.detectors import detector

_STATUS = {
    "yellow": "the optimiser is running (status yellow)",
    "grey": "the optimiser has not started yet (status grey), for example after a server restart",
    "red": "the collection has failed (status red)",
}


@dataclass(frozen=True)
class Serving:
    """The serving state of a collection."""

    facts: CollectionFacts
    filtered: Mapping[str, object] | None = None


@detector("index.not_ready", needs=Serving)
def find_not_ready(serving: Serving) -> Iterator[Finding]:
    """Why searches are currently slow, incomplete or failing.

    Not for the embedded Qdrant, which has neither optimiser nor HNSW.
    """
    facts = serving.facts
    problems = dict(_problems(facts)) if answers_for_itself(facts) else {}
    if not problems:
        return
    details = {
        "status": facts.status,
        "optimizer": facts.optimizer,
        "deferred_points": facts.deferred_points,
        "points": facts.points_count,
        "indexed_vectors": facts.indexed_vectors_count,
        "problems": sorted(problems),
        **({"simulated": True} if facts.simulated else {}),
    }
    cause = "; ".join(problems.values())
    yield make_finding("index.not_ready", [facts.name], details=details, cause=f"{cause[:1].upper()}{cause[1:]}.")


def answers_for_itself(facts: CollectionFacts) -> bool:
    """Whether the facts are a server's: an embedded Qdrant cannot have these problems, a simulated one can."""
    return not facts.local or facts.simulated


@detector("index.payload_index_missing", needs=Serving)
def find_missing_indexes(serving: Serving) -> Iterator[Finding]:
    """Fields that every search filters on, without an index for it."""
    facts = serving.facts
    if not answers_for_itself(facts):
        return
    indexed = {unquoted(name) for name in facts.payload_indexes}
    missing = [field for field in serving.filtered or () if unquoted(field) not in indexed]
    if missing:
        details = {"indexed": sorted(facts.payload_indexes), **({"simulated": True} if facts.simulated else {})}
        yield make_finding("index.payload_index_missing", missing, details=details)


def unindexed_points(facts: CollectionFacts) -> int | None:
    """Vectors that should be in HNSW and are not; None if there are none.

    A segment is indexed once its vectors exceed the threshold. If the unindexed vectors exceed the threshold times the
    number of segments, at least one segment is above it. Below that the approximate counts are not conclusive. Both are
    of the whole collection, even if the suite judges a part of it.
    """
    known = facts.indexed_vectors_count is not None and facts.segments and facts.indexing_threshold
    if not known or facts.hnsw.get("m") == 0 or len(facts.vectors) != 1:
        return None
    assert facts.indexed_vectors_count is not None
    assert facts.indexing_threshold is not None
    if facts.sparse_vectors_count is None:
        return None
    stored = facts.points_count if facts.stored_points is None else facts.stored_points
    left = stored - max(0, facts.indexed_vectors_count - facts.sparse_vectors_count)
    kilobytes = left * facts.vectors[0].size * 4 / 1024  # definition
    return left if kilobytes > facts.indexing_threshold * (facts.segments or 1) else None


def _problems(facts: CollectionFacts) -> Iterator[tuple[str, str]]:
    if facts.status != "green":
        yield "status", _STATUS.get(facts.status, f"the status is {facts.status}")
    if facts.optimizer != "ok":
        yield "optimizer", f"the optimiser reports an error: {facts.optimizer[:PASSAGE]}"
    if facts.deferred_points:
        yield (
            "deferred_points",
            f"{plural(facts.deferred_points, 'point')} hidden from searches until the collection is optimised",
        )
    left = unindexed_points(facts)
    if left is not None:
        yield (
            "unindexed",
            f"{left} vectors are not indexed, more than the threshold allows",
        )


@dataclass(frozen=True)
class PointsRead:
    """The snapshot, and changes of its points.

    Attributes:
        manifest: The snapshot.
        since: Changes of the points until the end of the run; None: not checked.
    """

    manifest: SnapshotManifest
    since: Since | None = None


@detector("index.empty", "index.changed_during_read", needs=PointsRead)
def find_in_read(read: PointsRead) -> Iterator[Finding]:
    """Findings that the collection was empty, or changed meanwhile."""
    manifest, since = read.manifest, read.since
    name = manifest.facts.name
    if not manifest.points and not (since.count if since else manifest.count_after):
        stored = 0 if manifest.count_before else manifest.facts.stored_points
        passing = f"None of the {plural(stored, 'point')} of {name} passes qdrant.filter." if stored else None
        yield make_finding("index.empty", [name], message=passing)
        return
    counts = _counts(manifest, since)
    shown = ", ".join(f"{count:,} {when}" for when, count in counts.items())
    if _holds_ids_twice(manifest, counts) and not (since and since.has_changed):
        yield make_finding(
            "index.changed_during_read", [name], details=counts,
            message=f"Of {manifest.count_before:,} points, {manifest.points:,} have a unique id.",
            cause="The same ids exist under several shard keys: all of them are counted, but only one is read.",
            remedy="Give points of different shard keys different ids.",
        )  # fmt: skip
    elif len(set(counts.values())) > 1 or (since and since.has_changed):
        told = {"gone": since.gone, "come": since.come, "rewritten": since.rewritten} if since and since.moved else {}
        which = f" Since the read: {', '.join(f'{count:,} {what}' for what, count in told.items())}." if told else ""
        if since and since.altered and not told:
            which = " Payloads, vectors or settings have changed since then."
        cause = f"Points counted: {shown}.{which}"
        yield make_finding("index.changed_during_read", [name], details={**counts, **told}, cause=cause)


def _holds_ids_twice(manifest: SnapshotManifest, counts: dict[str, int]) -> bool:
    """Whether a constant count above the points read is due to ids in several shards."""
    constant = {count for when, count in counts.items() if when != "read"}
    return manifest.facts.sharding == "custom" and len(constant) == 1 and manifest.points < max(constant)


def changed_while_judged(manifest: SnapshotManifest, since: Since | None) -> str:
    """Why gates cannot be met: parts of the run have seen different points; empty if all saw the same.

    The number of points read does not count: an id under two shard keys is read once and counted twice.
    """
    counts = {when: count for when, count in _counts(manifest, since).items() if when != "read"}
    if len(set(counts.values())) == 1 and not (since and since.has_changed):
        return ""
    shown = ", ".join(f"{count:,} {when}" for when, count in counts.items())
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
