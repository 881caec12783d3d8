"""ANN recall of Qdrant's own engine: good and poor HNSW graphs, and collections that have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.sources.search.searchers import probe_all
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.validation.index.ann import AnnResult, measure_ann, why_exact
from tests.support.qdrant_server import QdrantStandIn

POINTS, SIZE, SEARCHES = 3000, 32, 40


def measured(hnsw: models.HnswConfigDiff, *, optimized: bool = True) -> tuple[CollectionFacts, str | None, AnnResult]:
    """Facts, the reason why searches are exact, and the recall of some searches."""
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((POINTS, SIZE)).astype(np.float32)
    with QdrantStandIn() as server:
        client = QdrantClient(url=server.url, check_compatibility=False, timeout=60)
        client.create_collection(
            "c",
            vectors_config=models.VectorParams(size=SIZE, distance=models.Distance.COSINE),
            hnsw_config=hnsw,
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=10, default_segment_number=1),
        )
        for start in range(0, POINTS, 500):
            rows: list[Any] = vectors[start : start + 500].tolist()
            ids = range(start, start + len(rows))
            client.upsert("c", [models.PointStruct(id=at, vector=row) for at, row in zip(ids, rows, strict=True)])
        if optimized:
            server.engine.optimize("c")
        reader = CollectionReader(client, collection="c", place="here")
        facts = reader.facts()
        asked = {f"q{number}": rng.standard_normal(SIZE).tolist() for number in range(SEARCHES)}
        probes = probe_all({"query": asked}, reader=reader, limit=10)
        client.close()
    vector = facts.vectors[0]
    return facts, why_exact(facts, vector, asked_exact=False), measure_ann(probes, facts, vector, threshold=0.95)


def test_a_tiny_graph_loses_hits_and_is_named() -> None:
    facts, reason, result = measured(models.HnswConfigDiff(m=2, ef_construct=4, full_scan_threshold=10))
    assert reason is None
    assert facts.indexed_vectors_count == POINTS
    assert result.value.value is not None
    assert result.value.value < 0.9
    [finding] = result.findings
    assert (finding.code, finding.details["queries"]) == ("index.low_ann_recall", SEARCHES)


def test_a_usual_graph_loses_next_to_nothing() -> None:
    _, reason, result = measured(models.HnswConfigDiff(m=16, ef_construct=200, full_scan_threshold=10))
    assert reason is None
    assert result.value.value == pytest.approx(1.0, abs=0.05)
    assert result.findings == ()


def test_before_anything_is_indexed_searches_are_exact() -> None:
    facts, reason, result = measured(models.HnswConfigDiff(m=2, ef_construct=4), optimized=False)
    assert facts.indexed_vectors_count == 0
    assert reason == "no vector is indexed, so every search is exact"
    assert result.value.value == 1.0
