"""The plan of repairs of a run, from what it read and measured."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.measuring.facts.files import StoredFacts
from ragval_pipeline.rules.vector.model_mismatch import RULE as MODEL_MISMATCH
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.prints import VECTORS, read_prints
from ragval_pipeline.sources.snapshot.reader import Snapshot, rows_by_id
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.facts.store import FactsError
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.partitions import COLUMNS, Labels
from ragval_pipeline.validation.repair.other_vectors import embedded_apart, have_several, same_texts
from ragval_pipeline.validation.repair.proof import Proof
from ragval_pipeline.validation.repair.remedies import Listing, names_to_look_up, plan_remedies
from ragval_pipeline.validation.repair.repair_plan import RepairPlan
from ragval_pipeline.validation.repair.stored import FACTS, PointLookup, lookup_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Planner:
    """Plans for the findings of a run, before and after their repairs are simulated.

    What is stored of their subjects, and which deletions are proven, is read once.

    Attributes:
        inventory: The site, as far as it was read.
        manifest: The snapshot.
        facts: The facts of chunks and pages.
        measurements: What was measured.
        partitions: The partitions that the suite names.
        model: The model that queries are embedded with; None: unknown.
    """

    inventory: SiteInventory | None
    manifest: SnapshotManifest | None
    facts: FactsManifest | None
    measurements: Sequence[Measurement]
    partitions: Partitions | None
    model: str | None
    _lookups: dict[frozenset[str], PointLookup] = field(default_factory=dict)
    _proofs: dict[tuple[str, frozenset[str]], Set[str]] = field(default_factory=dict)

    def plan(self, findings: Sequence[Finding]) -> RepairPlan:
        """The plan for these findings."""
        lookup = self._lookup(frozenset(names_to_look_up(findings)))
        return plan_remedies(findings, self._listing, lookup, self._unproven, apart=self._apart, model=self.model)

    def _lookup(self, names: frozenset[str]) -> PointLookup:
        if names not in self._lookups:
            self._lookups.clear()
            self._lookups[names] = look_up_points(self.manifest, names)
        return self._lookups[names]

    @property
    def _listing(self) -> Listing:
        """The pages of the site."""
        if self.inventory is None:
            return Listing()
        others = frozenset(page.key for page in self.inventory.pages if page.out_of_scope)
        return Listing(self.inventory.scope_urls, others)

    def _unproven(self, deleted: Set[str]) -> Set[str]:
        return self._once("unproven", self._not_proven, deleted)

    def _apart(self, names: Set[str]) -> Set[str]:
        return self._once("apart", self._with_own_vectors, names)

    def _once(self, what: str, find: Callable[[Set[str]], Set[str]], names: Set[str]) -> Set[str]:
        key = what, frozenset(names)
        if key not in self._proofs:
            self._proofs[key] = find(key[1])
        return self._proofs[key]

    def _not_proven(self, deleted: Set[str]) -> Set[str]:
        """The points whose deletion is not proven to lose nothing; all, if no facts were made to prove it with."""
        if self.facts is None or self.manifest is None or not self.facts.files("chunks"):
            return set(deleted)
        sections = [measurement.sections.get("moved_pages", {}) for measurement in self.measurements]
        moved = frozenset(name for section in sections for names in section.values() for name in names)
        try:
            return Proof(StoredFacts(self.facts), self._partition().get, moved, self._texts_of).unproven(deleted)
        except (OSError, KeyError, FactsError) as error:
            logger.warning("the facts cannot be read, so that no deletion is proven: %s", error)
            return set(deleted)

    def _texts_of(self, names: Collection[str]) -> Mapping[str, str]:
        rows = {} if self.manifest is None else rows_by_id(Snapshot(self.manifest).batches(("point_id", "text")), names)
        return {name: row["text"] or "" for name, row in rows.items()}

    def _with_own_vectors(self, deleted: Set[str]) -> Set[str]:
        """Those of some points that have the text of others and a vector of their own, in a collection of such vectors.

        Where most vectors are those of the texts, another one may be wrong, unless most texts have several.
        """
        prints = None if self.manifest is None else self.manifest.prints
        mismatched = any(finding.code == MODEL_MISMATCH.code for each in self.measurements for finding in each.findings)
        kept = () if prints is None else [part.name for part in prints.parts]
        if not deleted or self.facts is None or prints is None or VECTORS not in kept:
            return frozenset()
        try:
            batches = StoredFacts(self.facts).batches("chunks", ("point_id", "digest"))
            texts = (zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True) for batch in batches)
            groups = same_texts(chain.from_iterable(texts), deleted)
            named = frozenset().union(*groups)
            shown = {name: each for name, each in read_prints(prints.folder() / VECTORS) if name in named}
        except (OSError, KeyError, FactsError) as error:
            logger.warning("vectors of points with the same text are not compared: %s", error)
            return frozenset()
        return embedded_apart(deleted, groups, shown) if mismatched or have_several(groups, shown) else frozenset()

    def _partition(self) -> Mapping[str, str]:
        """The value by point of the field that tells partitions apart; empty if there is none."""
        if self.partitions is not None:
            return self.partitions.joined
        paths = [
            measurement.sections["partition"]
            for measurement in self.measurements
            if "partition" in measurement.sections
        ]
        if not paths or self.manifest is None:
            return {}
        return Labels.of(Snapshot(self.manifest).batches(COLUMNS)).values.get(paths[0], {})


def look_up_points(manifest: SnapshotManifest | None, names: Collection[str]) -> PointLookup:
    """Read the snapshot for the points, sources and page keys in ``names``.

    Without the snapshot the lookup is empty, so that the report is still written.
    """
    if manifest is None:
        return PointLookup()
    try:
        return lookup_of(Snapshot(manifest).rows(("point_id", *FACTS)), names)
    except (OSError, KeyError) as error:
        logger.warning("the snapshot cannot be read, so the report has no hints from it: %s", error)
    return PointLookup()
