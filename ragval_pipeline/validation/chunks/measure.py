"""The measurement of ``chunk_structure``: the criterion ``times_stored``, and findings ``chunk.*`` and ``text.*``."""

from __future__ import annotations

import statistics
from datetime import datetime

from ragval_pipeline.validation.chunks.evidence import ChunkEvidence, required_fields
from ragval_pipeline.validation.chunks.layout import Layout
from ragval_pipeline.validation.chunks.token_counts import LimitRules
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured
from ragval_pipeline.validation.points import with_share

ASSET = "chunk_structure"


def times_stored(layout: Layout) -> MeasuredValue:
    """The criterion: letters of chunks on their page / letters that they cover, median over pages."""
    pages = len(layout.copies)
    if not pages:
        return not_measured("times_stored", "no_data", "no page with chunks was read")
    reason = f"median over {pages:,} pages that were read and have chunks"
    value = statistics.median(layout.copies)
    return MeasuredValue(name="times_stored", value=value, denominator=pages, reason=reason)


def measure_chunks(facts: Facts, limits: LimitRules, *, now: datetime) -> Measurement:
    """The measurement of ``chunk_structure``: ``times_stored``, and findings ``chunk.*`` and ``text.*``.

    Args:
        facts: The collection and its pages.
        limits: Source of the model's input limit.
        now: Time of the run, aware.
    """
    snapshot = facts.snapshot
    evidence = ChunkEvidence(facts, snapshot.batches, now, limits, required_fields(snapshot.manifest))
    return Measurement(
        asset=ASSET,
        values=(times_stored(evidence.layout),),
        findings=tuple(with_share(finding, snapshot.manifest.points) for finding in find_all(evidence)),
    )
