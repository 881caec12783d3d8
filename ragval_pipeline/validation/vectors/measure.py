"""The measurement of ``vector_health`` from one pass over the vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.measurement import (
    MeasuredValue,
    Measurement,
    failed_measurement,
    not_measured,
    ratio,
)
from ragval_pipeline.validation.vectors.classification import Classified, Lookups, RowsOf, VectorSettings, classify
from ragval_pipeline.validation.vectors.comparison import Comparison, OddLengths, odd_lengths
from ragval_pipeline.validation.vectors.findings import COLUMNS, Vectors
from ragval_pipeline.validation.vectors.partition import Label
from ragval_pipeline.validation.views.tables import kept_columns

if TYPE_CHECKING:
    from ragval_pipeline.validation.vectors.trials import EmbedAs

ASSET = "vector_health"
CRITERION = "embedding_match"


def measure_vectors(
    found: Comparison,
    settings: VectorSettings,
    *,
    rows_of: RowsOf,
    embed_as: EmbedAs | None,
    lookups: Lookups | None = None,
    partitions: Partitions | None = None,
) -> Measurement:
    """The measurement of ``vector_health``.

    Args:
        found: Result of the pass over the vectors.
        settings: Further settings.
        rows_of: Reads rows of the snapshot.
        embed_as: Embeds texts for trials; None: no trials.
        lookups: Finds points outside the sample; None if everything was re-embedded.
        partitions: Those of the collection, if it has any.
    """
    failure = found.failure
    if failure is not None:
        embed_as = lookups = None
    try:
        classified = classify(found, settings, rows_of=rows_of, embed_as=embed_as, lookups=lookups)
    except SystemFailure as error:
        failure, lookups = error, None
        classified = classify(found, settings, rows_of=rows_of, embed_as=None, lookups=None)
    names = classified.points.names(Label.SWAPPED, Label.OTHER_MODEL, Label.TEXT_MISMATCH)
    # An angle does not depend on lengths.
    lengths = OddLengths() if settings.vector.distance == "Cosine" else odd_lengths(found)
    every = frozenset().union(found.missing, found.zero, names, lengths.odd, *classified.copies)
    is_sample = lookups is not None or found.failure is not None
    evidence = Vectors(found, settings, classified, rows_of(every, COLUMNS), lengths, is_sample)
    findings = find_all(evidence)
    section = {**_section(found, classified), **kept_columns(judged_vectors=evidence.judged)}
    if failure is not None:
        failed = failed_measurement(ASSET, failure)
        return failed.model_copy(update={"findings": (*failed.findings, *findings), "sections": section})
    value = _value(found, settings, classified)
    return Measurement(
        asset=ASSET,
        values=(value,),
        by_partition=_by_partition(value, classified, partitions) if partitions else {},
        findings=tuple(findings),
        sections=section,
    )


def _by_partition(value: MeasuredValue, classified: Classified, partitions: Partitions) -> ByPartition:
    if value.value is None:
        return dict.fromkeys(partitions.sizes, (value,))
    points = classified.points
    sampled, matching = set(points.ids[: points.sampled]), set(points.names(Label.MATCHING))
    return {
        name: (ratio(CRITERION, len(matching.intersection(own)), len(own), of="re-embedded points"),)
        for name, own in partitions.grouped(sampled, partitions.of_point).items()
    }


def _value(found: Comparison, settings: VectorSettings, classified: Classified) -> MeasuredValue:
    if settings.unsampled is not None:
        return not_measured(CRITERION, "not_applicable", settings.unsampled)
    if not found.points:
        return no_vectors()
    if found.other and not found.ids:
        return not_measured(CRITERION, "not_applicable", "the collection has several vectors per point")
    points, every = classified.points, found.points
    sampled = points.sampled
    of = "re-embedded points" + (f", of {every} in the collection" if sampled < every else "")
    return ratio(CRITERION, points.count(Label.MATCHING), sampled, of=of)


def no_vectors() -> MeasuredValue:
    """The criterion of a collection without points."""
    return not_measured(CRITERION, "no_data", "the collection holds no points")


def _section(found: Comparison, classified: Classified) -> dict[str, Any]:
    points, decision = classified.points, classified.decision
    section = {
        "points": found.points,
        "missing": len(found.missing),
        "zero": len(found.zero),
        "re_embedded": points.sampled,
        "classes": {label.name.lower(): points.count(label) for label in Label if points.count(label)},
        "changed_texts": len(classified.changed),
        "median_cosine_of_others": decision.median,
        "closest_way": decision.best and {"way": decision.best.means, "median_cosine": decision.best.median},
    }
    return {"vectors": section}
