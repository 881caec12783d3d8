"""Runs to render in the words of a seed: queries, hits, and the snapshot that stands behind the hits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.reporting.profiles import render_profile_report
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest
from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.suite.profiles.table import PROFILES
from tests.reporting import factory


def rendered(bundle: ReportBundle, profile: str) -> dict[str, Any]:
    """``profile_report.json`` as a reader gets it."""
    report: dict[str, Any] = json.loads(json_bytes(render_profile_report(bundle, profile)))
    return report


def snapshot(folder: Path, profile: str, payloads: Mapping[str, Mapping[str, Any]], **facts: Any) -> SnapshotManifest:
    """A snapshot of points (id to payload) under the field map of a profile."""
    fields = PROFILES[profile].settings["payload"]["fields"]
    mapper = RecordMapper(fields=fields, tracked=tracked_fields(fields, []), page_key=str, pages={})
    # As the reader of collections does.
    points = [Point(id=canonical_id(name), payload=dict(payload)) for name, payload in payloads.items()]
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([mapper.batch(points)]), folder / "part-00000.parquet")
    size = len(points)
    described = {"name": "c", "points_count": size, "vectors": (VectorFacts(name=None, size=1024, distance="Cosine"),)}
    return SnapshotManifest(
        run_id=factory.RUN_ID, staged_uri=str(folder), kept_uri=str(folder.parent / "kept"),
        parts=(Part(name="part-00000.parquet", rows=size),), points=size, count_before=size, count_after=size,
        facts=CollectionFacts(**{**described, **facts}), fields=fields, required=(),
    )  # fmt: skip


def broken(report: Mapping[str, Any], where: str) -> set[str]:
    """Fields of the entity at ``where`` that break a rule of the seed."""
    return {entry["field"] for entry in report["rule_violations"] if entry["where"] == where}
