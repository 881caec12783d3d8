"""Is the collection ready to serve, was it read completely, and has it changed meanwhile?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.factory import PASSAGE, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.index.changed_during_read import RULE as CHANGED_DURING_READ
from ragval_pipeline.rules.index.empty import RULE as INDEX_EMPTY
from ragval_pipeline.rules.index.no_tenant_index import RULE as NO_TENANT_INDEX
from ragval_pipeline.rules.index.not_ready import RULE as NOT_READY
from ragval_pipeline.rules.index.payload_index_missing import RULE as PAYLOAD_INDEX_MISSING
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.sameness import Differences
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.names import unquoted
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.coverage.filtered import why_none_passes
from ragval_pipeline.validation.detectors import detector

_STATUS = {
    "yellow": "the optimiser is running (status yellow)",
    "grey": "the optimiser has not started yet (status grey), for example after a server restart",
    "red": "the collection has failed (status red)",
}


@dataclass(frozen=True)
class Serving:
    """The serving state of a collection.

    Attributes:
        facts: About the collection.
        filtered: The suite's filter.
        partition_by: Field of the partitions.
        asked_by: Fields of the queries' filters.
    """

    facts: CollectionFacts
    filtered: Mapping[str, object] | None = None
    partition_by: str | None = None
    asked_by: Sequence[str] = ()


@detector(NOT_READY, needs=Serving)
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
    yield make_finding(NOT_READY.code, [facts.name], details=details, cause=f"{cause[:1].upper()}{cause[1:]}.")


def answers_for_itself(facts: CollectionFacts) -> bool:
    """Whether the facts are a server's: an embedded Qdrant cannot have these problems, a simulated one can."""
    return not facts.local or facts.simulated


@detector(PAYLOAD_INDEX_MISSING, needs=Serving)
def find_missing_indexes(serving: Serving) -> Iterator[Finding]:
    """Fields that every search filters on, without an index for it."""
    facts = serving.facts
    if not answers_for_itself(facts):
        return
    indexed = {unquoted(name) for name in facts.payload_indexes}
    missing = [field for field in serving.filtered or () if unquoted(field) not in indexed]
    if missing:
        details = {"indexed": sorted(facts.payload_indexes), **({"simulated": True} if facts.simulated else {})}
        yield make_finding(PAYLOAD_INDEX_MISSING.code, missing, details=details)


@detector(NO_TENANT_INDEX, needs=Serving)
def find_no_tenant_index(serving: Serving) -> Iterator[Finding]:
    """The field of the partitions, or one of the queries' filters, without an index, or with one not for tenants."""
    facts = serving.facts
    fields = dict.fromkeys([*([serving.partition_by] if serving.partition_by else []), *serving.asked_by])
    if not fields or not answers_for_itself(facts):
        return
    indexed = {unquoted(name) for name in facts.payload_indexes}
    tenants = indexed if facts.tenant_indexes is None else {unquoted(name) for name in facts.tenant_indexes}
    without = [field for field in fields if unquoted(field) not in indexed & tenants]
    if not without:
        return
    details = {"indexed": sorted(facts.payload_indexes), **({"simulated": True} if facts.simulated else {})}
    cause = None
    if all(unquoted(field) in indexed for field in without):
        several = "The fields have indexes, but none for tenants."
        cause = "The field has an index, but not one for tenants." if len(without) == 1 else several
    yield make_finding(NO_TENANT_INDEX.code, without, details=details, cause=cause)


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
    indexed = facts.indexed_vectors_count
    # Servers count sparse vectors as indexed, or do not. Only a count above that of the points tells them apart.
    left = stored - (max(0, indexed - facts.sparse_vectors_count) if indexed > stored else indexed)
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
        differences: What the collection holds at the end of the run, compared with the snapshot; None: not compared.
        max_changing: Share of the points that may change, 0..1; more than these, and no gate is met.
    """

    manifest: SnapshotManifest
    differences: Differences | None = None
    max_changing: float = 0.0

    @property
    def uncounted(self) -> int:
        """Points by which Qdrant's count and the points that it returned differ beyond those that came or went."""
        manifest, found = self.manifest, self.differences
        counts = (manifest.count_before, manifest.count_after)
        if not manifest.facts.strict_mode.exact:  # these counts are approximate
            return 0
        if counts[0] == counts[1] and _may_hold_ids_twice(manifest):
            return 0
        known = len(found.come) + len(found.gone) if found else 0
        return max(0, *(abs(count - manifest.points) - known for count in counts))

    @property
    def is_steady(self) -> bool:
        """Whether every part of the run has seen the same points, but for those that are set aside."""
        found = self.differences
        if found is not None and (found.moved or found.settings):
            return False
        changing = self.uncounted + (len(found.points) if found else 0)
        return changing <= self.max_changing * max(self.manifest.points, found.now if found else 0)


@detector(INDEX_EMPTY, CHANGED_DURING_READ, needs=PointsRead)
def find_in_read(read: PointsRead) -> Iterator[Finding]:
    """Findings that the collection was empty, or changed meanwhile."""
    manifest, found = read.manifest, read.differences
    name = manifest.facts.name
    if not manifest.points and not (found.now if found else manifest.count_after):
        stored = 0 if manifest.count_before else manifest.facts.stored_points
        passing = f"None of the {plural(stored, 'point')} of {name} passes qdrant.filter." if stored else None
        cause, remedy = why_none_passes(manifest.left_out)
        yield make_finding(INDEX_EMPTY.code, [name], message=passing, cause=cause, remedy=remedy)
        return
    if found is not None and found.has_changed:
        yield _changed(read, found)
    elif read.uncounted or (manifest.facts.strict_mode.exact and manifest.count_after != manifest.points):
        yield _miscounted(read)


def _changed(read: PointsRead, found: Differences) -> Finding:
    counts = _counts(read.manifest, found)
    subjects = [
        Subject(name=point, details={"change": what})
        for what, points in (("came", found.come), ("went", found.gone), ("changed", found.changed))
        for point in points
    ]
    changes = ", ".join(f"{subject_count:,} {what}" for what, subject_count in _kinds(found).items() if subject_count)
    causes = [f"Between the first and the last reading {changes}."] if changes else []
    if found.moved:
        causes.append(
            f"The alias {read.manifest.facts.alias or ''} now points to {found.collection}.".replace("  ", " ")
        )
    if found.settings:
        causes.append("Its vectors, or how they are searched, were changed.")
    if read.is_steady:
        causes.append(
            f"They are set aside, and the other {read.manifest.points - _left_out(found):,} points are judged."
        )
    return make_finding(
        CHANGED_DURING_READ.code,
        subjects,
        details={**counts, **_kinds(found)},
        message=None if subjects else f"The collection {read.manifest.facts.name} changed while it was validated.",
        cause=" ".join(causes),
    )


def _left_out(found: Differences) -> int:
    """Points of the snapshot that are set aside."""
    return len(found.gone) + len(found.changed)


def _kinds(found: Differences) -> dict[str, int]:
    return {"came": len(found.come), "went": len(found.gone), "changed": len(found.changed)}


def _miscounted(read: PointsRead) -> Finding:
    manifest = read.manifest
    counts = _counts(manifest, read.differences)
    if not read.uncounted:
        return make_finding(
            CHANGED_DURING_READ.code, details=counts,
            message=f"Of {manifest.count_before:,} points, {manifest.points:,} have a unique id.",
            cause="The same ids exist under several shard keys: all of them are counted, but only one is read.",
            remedy="Give points of different shard keys different ids.",
        )  # fmt: skip
    shown = ", ".join(f"{count:,} {when}" for when, count in counts.items())
    steady = manifest.count_before == manifest.count_after
    remedy = "Look at the server's log and at any proxy in between: its count and its scroll contradict each other."
    return make_finding(
        CHANGED_DURING_READ.code,
        details=counts,
        message=f"Qdrant counts {manifest.count_after:,} points, and returns {manifest.points:,}.",
        cause=f"Points counted: {shown}.",
        remedy=remedy if steady else None,
    )


def _may_hold_ids_twice(manifest: SnapshotManifest) -> bool:
    """Whether a constant count above the points read can be due to ids under several shard keys.

    Each shard has a segment at least, and an id once at most.
    """
    facts = manifest.facts
    most = manifest.points * (facts.segments or 1)
    return facts.sharding == "custom" and manifest.points < manifest.count_after <= most


def changed_while_judged(read: PointsRead) -> str:
    """Why gates cannot be met: parts of the run have seen different points; empty if all saw the same."""
    if read.is_steady:
        return ""
    manifest, found = read.manifest, read.differences
    shown = ", ".join(f"{count:,} {when}" for when, count in _counts(manifest, found).items())
    told = ""
    if found and found.points:
        told = f", {len(found.points):,} of them not what was read"
    elif found and (found.moved or found.settings):
        told = ", another collection or other settings"
    return f"the collection changed while it was validated (points: {shown}{told})"


def _counts(manifest: SnapshotManifest, found: Differences | None) -> dict[str, int]:
    counts = {"before": manifest.count_before, "read": manifest.points, "after": manifest.count_after}
    return {**counts, **({"at_the_end": found.now} if found else {})}


def index_section(manifest: SnapshotManifest, found: Differences | None = None) -> dict[str, object]:
    """The report's ``index``: facts about the collection and about the read."""
    return {
        **({"points_at_the_end": found.now, "vectors_compared": found.vectors} if found else {}),
        **manifest.facts.model_dump(mode="json"),
        "points_read": manifest.points,
        "points_read_by": manifest.way,
        "points_read_twice": manifest.repeated,
        "read_seconds": manifest.seconds,
        "observed_fields": list(manifest.observed),
    }
