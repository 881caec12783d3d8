"""``content_integrity``: chunks stand on their pages, pages in their chunks, and chunks are whole and single."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from ragval_pipeline.validation.chunks.limits import LimitRules


def compare_content(manifest: FactsManifest) -> Measurement:
    """Compare the chunks of a collection with the pages that they come from."""
    from ragval_pipeline.validation.facts.store import Facts
    from ragval_pipeline.validation.integrity.measure import measure_integrity

    return measure_integrity(Facts(manifest))


def judge_chunks(suite: Suite, manifest: FactsManifest) -> Measurement:
    """Judge the chunks of a resolved suite's collection."""
    from ragval_pipeline.validation.chunks.measure import measure_chunks
    from ragval_pipeline.validation.facts.store import Facts

    return measure_chunks(Facts(manifest), limits_of(suite, manifest.points), now=datetime.now(UTC))


def limits_of(suite: Suite, points: SnapshotManifest) -> LimitRules:
    """How many tokens the models behind a resolved suite's points read."""
    from ragval_pipeline.sources.embedders.models import model_in_use
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.chunks.limits import LimitRules

    profile, embedding = get_profile(suite.profile), suite.embedding
    return LimitRules(
        max_input_tokens=embedding.max_input_tokens,
        collection=points.facts.metadata,
        profile=profile.max_input_tokens if profile else None,
        model=model_in_use(embedding.provider, embedding.model),
    )
