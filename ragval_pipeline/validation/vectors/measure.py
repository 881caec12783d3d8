"""From one pass over the vectors to the measurement of ``vector_health``.

What lives here: the order of the questions: swapped before copied, both before the models, so that no point is named
twice for one thing. What does not: the answers (one file each), and opening connections.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.qdrant.facts import VectorFacts
from ragval_pipeline.sources.snapshot.embedded import embedded_text
from ragval_pipeline.validation.measurement import (
    MeasuredValue,
    Measurement,
    failed_measurement,
    not_measured,
    ratio,
)
from ragval_pipeline.validation.vectors import findings as wording
from ragval_pipeline.validation.vectors import identical, split, variants
from ragval_pipeline.validation.vectors.compared import MATCH
from ragval_pipeline.validation.vectors.identity import Decision, decide, worth_trying
from ragval_pipeline.validation.vectors.pairs import Pairs, pairs_of, stale_texts
from ragval_pipeline.validation.vectors.partners import Lookups, with_partners
from ragval_pipeline.validation.vectors.populations import Populations, sort_points
from ragval_pipeline.validation.vectors.swapped import Owner, find_swapped, with_displaced, without_copies
from ragval_pipeline.validation.vectors.trials import Tested, Trial, choose_tested, try_all
from ragval_pipeline.validation.vectors.walk import Walked

if TYPE_CHECKING:
    from ragval_pipeline.validation.vectors.trials import EmbedAs

ASSET = "vector_health"
CRITERION = "embedding_match"

#: Rows of the snapshot: points, then columns.
RowsOf = Callable[[Collection[str], Sequence[str]], Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class VectorSettings:
    """What is known besides the vectors.

    Args:
        collection: Name of the collection.
        vector: Size and distance of the vectors that searches use.
        model: Name of the embedder's model.
        made_for_cosine: Whether that model's vectors are to be compared by cosine; false: not known.
        sampling: Whether anything was to be re-embedded at all.
    """

    collection: str
    vector: VectorFacts
    model: str
    made_for_cosine: bool
    sampling: bool = True


def measure_vectors(
    walked: Walked,
    settings: VectorSettings,
    *,
    rows_of: RowsOf,
    embed_as: EmbedAs | None,
    lookups: Lookups | None = None,
) -> Measurement:
    """The measurement of ``vector_health``.

    Args:
        walked: What the pass over the vectors found.
        settings: What is known besides.
        rows_of: Reads rows of the snapshot.
        embed_as: Embeds texts for trials; null: none are made.
        lookups: Finds points outside the sample; null where everything was re-embedded.
    """
    judged = _Judged(walked, settings, rows_of)
    failure = walked.failure
    try:
        found = judged.findings(None, None) if failure else judged.findings(embed_as, lookups)
    except SystemFailure as error:
        failure, found = error, judged.findings(None, None)
    if failure is not None:
        failed = failed_measurement(ASSET, failure)
        return failed.model_copy(update={"findings": (*failed.findings, *found), "sections": judged.sections()})
    return Measurement(asset=ASSET, values=(judged.value(),), findings=tuple(found), sections=judged.sections())


class _Judged:
    """One pass, judged."""

    def __init__(self, walked: Walked, settings: VectorSettings, rows_of: RowsOf) -> None:
        self._stored, self._compared = walked.stored, walked.compared
        self._settings, self._rows_of = settings, rows_of
        self._all = pairs_of(walked.compared)
        self._stale = stale_texts(walked.compared)
        self._swapped: dict[str, Owner] = {}
        self._copied: list[list[str]] = []
        self._populations: Populations | None = None
        self._decision = Decision()

    def findings(self, embed_as: EmbedAs | None, lookups: Lookups | None) -> list[Finding]:
        """Everything that is wrong with the vectors."""
        everything = self._all if lookups is None else with_partners(self._all, lookups, self._rows_of)
        self._misplaced(everything, sampled=lookups is not None)
        copied = {name for group in self._copied for name in group}
        pairs = self._all.without({*self._swapped, *copied})
        self._decision = self._decide(pairs, embed_as)
        described = self._described(copied)
        cosines = pairs.cosines()
        settings, decision = self._settings, self._decision
        named = () if decision.mismatch is None else self._named_models(pairs)
        return [
            *wording.missing_and_zero(self._stored.missing, self._stored.zero, described),
            *(wording.distance(settings.vector, model=settings.model, longest=self._stored.longest)
              if settings.made_for_cosine and self._stored.ids else ()),
            *wording.swapped(self._swapped, everything.cosines(), described),
            *wording.identical(self._copied, described),
            *wording.models(decision, cosines, described, named=named, model=settings.model,
                             collection=settings.collection, sampled=len(pairs.ids)),
        ]  # fmt: skip

    def _misplaced(self, pairs: Pairs, *, sampled: bool) -> None:
        """Find swapped and copied vectors."""
        groups, found = self._stored.same_vectors(), find_swapped(pairs)
        owners = frozenset(owner.point for owner in found.values() if owner.point)
        rows = self._rows_of(owners.union(*groups), identical.COLUMNS)
        swapped = without_copies(found, groups, pairs, lambda name: rows[name]["text_sha256"] if name in rows else None)
        cosines = pairs.cosines()
        if sampled:
            swapped = with_displaced(swapped, [name for name in pairs.kept if cosines[name] < MATCH])
        self._swapped = swapped
        self._copied = identical.copied_vectors(groups, rows, pairs, leave_out={*swapped, *self._stale})

    def value(self) -> MeasuredValue:
        """``embedding_match``."""
        if not self._settings.sampling:
            return not_measured(CRITERION, "not_applicable", "embedding.identity_sample is 0")
        if not self._stored.points:
            return not_measured(CRITERION, "no_data", "the collection holds no points")
        if self._stored.other and not self._stored.ids:
            return not_measured(CRITERION, "not_applicable", "the collection holds several vectors a point")
        matching = sum(cosine >= MATCH for cosine in self._compared.cosine)
        return ratio(CRITERION, matching, len(self._compared.ids), of="re-embedded points")

    def sections(self) -> dict[str, Any]:
        """The report's part on vectors."""
        populations, best = self._populations, self._decision.best
        section = {
            "points": self._stored.points,
            "missing": len(self._stored.missing),
            "zero": len(self._stored.zero),
            "re_embedded": len(self._compared.ids),
            "matching": sum(cosine >= MATCH for cosine in self._compared.cosine),
            "changed_texts": len(self._stale),
            "swapped": len(self._swapped),
            "copied": sum(map(len, self._copied)),
            "related": len(populations.related) if populations else 0,
            "other_space": len(populations.foreign) if populations else 0,
            "stray": len(populations.stray) if populations else 0,
            "median_cosine_of_others": self._decision.median,
            "closest_way": None if best is None else {"way": best.means, "median_cosine": best.median},
        }
        return {"vectors": section}

    def _decide(self, pairs: Pairs, embed_as: EmbedAs | None) -> Decision:
        populations = self._populations = sort_points(pairs)
        trials = self._try(pairs, populations, embed_as) if embed_as and worth_trying(populations) else []
        splits = {}
        if populations.foreign or populations.related:
            rows = self._rows_of(frozenset(pairs.ids), split.COLUMNS)
            rest = (*populations.matching, *populations.related)
            splits = {
                "foreign": split.explain_split(populations.foreign, rest, rows),
                "related": split.explain_split(populations.related, populations.matching, rows),
            }
        return decide(pairs, populations, trials, splits)

    def _try(self, pairs: Pairs, populations: Populations, embed_as: EmbedAs) -> list[Trial]:
        import numpy as np

        chosen = choose_tested(pairs, populations.related, populations.matching)
        rows = self._rows_of(frozenset(chosen), variants.COLUMNS)
        chosen = [name for name in chosen if name in rows]
        off = sum(name in set(populations.related) for name in chosen)
        if not off:
            return []
        place = {name: number for number, name in enumerate(pairs.kept)}
        stored = np.stack([pairs.stored[place[name]] for name in chosen])
        cosines = pairs.cosines()
        plain = np.array([cosines[name] for name in chosen], dtype=np.float32)
        return try_all(Tested([_tried(rows[name]) for name in chosen], stored, plain, off), embed_as)

    def _named_models(self, pairs: Pairs) -> list[str | None]:
        rows = self._rows_of(frozenset(pairs.ids), split.COLUMNS)
        return [row["model"] for row in rows.values()]

    def _described(self, copied: Collection[str]) -> wording.Described:
        named = wording.all_ids(self._stored.missing, self._stored.zero, self._swapped, copied, self._decision.mixed)
        return wording.Described(self._rows_of(named, wording.COLUMNS), self._stored.points)


def _tried(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with the embedded text in the place of the stored one."""
    return {**row, "text": embedded_text(row), "stored_text": row["text"]}
