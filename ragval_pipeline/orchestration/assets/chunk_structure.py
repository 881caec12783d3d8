"""Whether chunks are complete, single, in order, short enough and clean text."""

from __future__ import annotations

from datetime import UTC, datetime

from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.measurement import Measurement


def judge_chunks(suite: Suite, manifest: FactsManifest) -> Measurement:
    """Judge the chunks of a resolved suite's collection."""
    from ragval_pipeline.sources.embedders.models import model_in_use
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.chunks.limits import LimitRules
    from ragval_pipeline.validation.chunks.measure import measure_chunks
    from ragval_pipeline.validation.facts.store import Facts

    profile, embedding = get_profile(suite.profile), suite.embedding
    limits = LimitRules(
        max_input_tokens=embedding.max_input_tokens,
        collection=manifest.points.facts.metadata,
        profile=profile.max_input_tokens if profile else None,
        model=model_in_use(embedding.provider, embedding.model),
    )
    return measure_chunks(Facts(manifest), limits, now=datetime.now(UTC))
