"""Sparse and hybrid search beside the judged one, by the collection's own vectors."""

from __future__ import annotations

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.sources.embedders.sparse import word_counts
from ragval_pipeline.testing.defects.planters.sparse import weighted
from tests.orchestration.world import NAME, World


def with_words(world: World) -> None:
    """Give the demo's points sparse vectors of fastembed's BM25 beside their dense ones."""
    client = QdrantClient(path=str(world.folder / "qdrant"))
    records, _ = client.scroll(NAME, limit=1000, with_vectors=True)
    client.delete_collection(NAME)
    client.create_collection(
        NAME,
        vectors_config=models.VectorParams(size=256, distance=models.Distance.COSINE),
        sparse_vectors_config={"words": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    counts = dict(word_counts())["english"]([str((record.payload or {})["chunk_text"]) for record in records])
    points = []
    for record, words in zip(records, counts, strict=True):
        row = weighted(words)
        vector = {"": record.vector, "words": models.SparseVector(indices=list(row), values=list(row.values()))}
        points.append(models.PointStruct(id=record.id, vector=vector, payload=record.payload))  # type: ignore[arg-type]
    client.upsert(NAME, points)
    client.close()


@pytest.mark.slow
@pytest.mark.parametrize("fusion", ["rrf", "dbsf"])
def test_each_way_is_asked_the_same_questions_and_none_decides(fusion: str, world: World, without_gx: None) -> None:
    with_words(world)
    retrieval = {"also": ["bm25", "sparse", "hybrid"], "fusion": fusion}
    report = run_suite(world.suite({"latency": "off", "retrieval": retrieval})).report
    assert report.verdict == "pass"
    found = report.retrieval_metrics.by_mode
    assert list(found) == ["bm25", "sparse", "hybrid"]
    assert {values["answered"].n for values in found.values()} == {20}
    assert all(values["answered"].value >= 0.9 for values in found.values())
    assert [finding.code for finding in report.findings if finding.severity != "info"] == []


@pytest.mark.slow
def test_a_collection_without_sparse_vectors_cannot_be_asked_by_them(world: World, without_gx: None) -> None:
    report = run_suite(world.suite({"latency": "off", "retrieval": {"also": ["hybrid"]}})).report
    assert report.verdict != "pass"
    [finding] = [finding for finding in report.findings if finding.code == "check.crashed"]
    assert "has no sparse vector" in finding.cause
