"""``chunk_structure``: whether chunks are complete, single, short enough and clean text."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg

from ragval_pipeline.orchestration.assets.chunk_facts import run_facts
from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import CHUNK_STRUCTURE, PAGE_COPIES, PAYLOAD_SNAPSHOT
from ragval_pipeline.orchestration.run_place import run_place
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from ragval_pipeline.validation.facts.store import Facts


def build_chunk_structure(suite: Suite) -> dg.AssetsDefinition:
    """The asset; pages that were read settle what chunks alone leave open."""

    @suite_asset(
        suite,
        CHUNK_STRUCTURE,
        kinds={"parquet"},
        ins=upstream(suite, pages=PAGE_COPIES, manifest=PAYLOAD_SNAPSHOT),
        description=__doc__,
    )
    def chunk_structure(
        context: dg.AssetExecutionContext, pages: PageCopiesManifest, manifest: SnapshotManifest
    ) -> dg.MaterializeResult[Measurement]:
        return measure(
            context,
            asset=CHUNK_STRUCTURE,
            severities=suite.severity,
            work=lambda: judge_chunks(suite, run_facts(run_place(context, resolve_suite(suite)), pages, manifest)),
        )

    return chunk_structure


def judge_chunks(suite: Suite, facts: "Facts") -> Measurement:
    """Judge the chunks of a suite's collection."""
    from ragval_pipeline.sources.embedders.models import model_in_use
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.chunks.limits import LimitRules
    from ragval_pipeline.validation.chunks.measure import measure_chunks

    resolved = resolve_suite(suite)
    profile, embedding = get_profile(resolved.profile), resolved.embedding
    limits = LimitRules(
        max_input_tokens=embedding.max_input_tokens,
        collection=facts.manifest.points.facts.metadata,
        profile=profile.max_input_tokens if profile else None,
        model=model_in_use(embedding.provider, embedding.model),
    )
    return measure_chunks(facts, limits, now=datetime.now(UTC))
