"""Everything that is judged about chunks and their texts, from facts."""

from __future__ import annotations

from datetime import datetime

from ragval_pipeline.validation.chunks.evidence import ChunkEvidence, required_fields
from ragval_pipeline.validation.chunks.ingested_twice import times_stored
from ragval_pipeline.validation.chunks.limits import LimitRules
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.points import with_share

ASSET = "chunk_structure"


def measure_chunks(facts: Facts, limits: LimitRules, *, now: datetime) -> Measurement:
    """The measurement of ``chunk_structure``: ``times_stored``, and findings ``chunk.*`` and ``text.*``.

    Args:
        facts: The collection and its pages.
        limits: Where the model's input limit comes from.
        now: Time of the run, aware.
    """
    snapshot = facts.snapshot
    evidence = ChunkEvidence(facts, snapshot.batches, now, limits, required_fields(snapshot.manifest))
    return Measurement(
        asset=ASSET,
        values=(times_stored(evidence.layout),),
        findings=tuple(with_share(finding, snapshot.manifest.points) for finding in find_all(evidence)),
    )
