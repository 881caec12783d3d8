"""A collection of sparse vectors only: what concerns dense ones does not apply, and all else is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from qdrant_client import QdrantClient, models

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.testing.defects.planters.sparse import bm25
from ragval_pipeline.validation.report import ValidationReport
from tests.orchestration.world import NAME, World


def validated(world: World, status: str, *, lacking: int = 0) -> ValidationReport:
    """The report of the demo with sparse vectors only, of which some lack, and with questions of a status."""
    client = QdrantClient(path=str(world.folder / "qdrant"))
    records, _ = client.scroll(NAME, limit=1000)
    client.delete_collection(NAME)
    modifier = models.SparseVectorParams(modifier=models.Modifier.IDF)
    client.create_collection(NAME, vectors_config={}, sparse_vectors_config={"langchain-sparse": modifier})
    points = []
    for number, record in enumerate(records):
        words = bm25(str((record.payload or {})["chunk_text"]))
        vector = models.SparseVector(indices=list(words), values=list(words.values()))
        given = {} if number < lacking else {"langchain-sparse": vector}
        points.append(models.PointStruct(id=record.id, vector=given, payload=record.payload))  # type: ignore[arg-type]
    client.upsert(NAME, points)
    client.close()
    file = Path(world.folder / "queries.yaml")
    queries = [{**query, "status": status} for query in yaml.safe_load(file.read_text(encoding="utf-8"))]
    file.write_text(yaml.safe_dump(queries), encoding="utf-8")
    return run_suite(world.suite({"latency": "off"})).report


@pytest.mark.slow
def test_it_passes_if_nothing_else_is_wrong_and_no_question_counts(world: World, without_gx: None) -> None:
    report = validated(world, "draft")
    assert report.verdict == "pass"
    assert [finding.code for finding in report.findings if finding.severity != "info"] == []
    unmeasured = {entry.name: entry.reason_code for entry in report.criteria if entry.verdict == "not_measured"}
    assert {unmeasured[name] for name in ("query_pass_rate", "embedding_match", "ann_recall", "self_retrieval")} == {
        "not_applicable"
    }


@pytest.mark.slow
def test_points_without_theirs_are_named(world: World, without_gx: None) -> None:
    report = validated(world, "draft", lacking=3)
    [finding] = [finding for finding in report.findings if finding.severity == "error"]
    assert (finding.code, finding.count, report.verdict) == ("sparse.missing", 3, "fail")


@pytest.mark.slow
def test_questions_that_count_are_not_passed_by_not_being_asked(world: World, without_gx: None) -> None:
    report = validated(world, "PENDING")
    assert report.verdict != "pass"
    assert report.criterion("query_pass_rate").reason_code == "no_data"
