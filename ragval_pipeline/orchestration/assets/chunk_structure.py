"""``chunk_structure``: whether chunks are complete, single, short enough and clean text."""

from datetime import UTC, datetime

from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def judge_chunks(suite: Suite, pages: PageCopiesManifest, manifest: SnapshotManifest) -> Measurement:
    """Judge the chunks of a resolved suite's collection."""
    from ragval_pipeline.sources.embedders.models import model_in_use
    from ragval_pipeline.sources.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.chunks.limits import LimitRules
    from ragval_pipeline.validation.chunks.measure import measure_chunks

    profile, embedding = get_profile(suite.profile), suite.embedding
    limits = LimitRules(
        max_input_tokens=embedding.max_input_tokens,
        collection=manifest.facts.metadata,
        profile=profile.max_input_tokens if profile else None,
        model=model_in_use(embedding.provider, embedding.model),
    )
    return measure_chunks(Snapshot(manifest), PageCopies(pages) if pages.parts else None, limits, now=datetime.now(UTC))
