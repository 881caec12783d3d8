"""ANN recall of Qdrant's own engine: good and poor HNSW graphs, and collections that have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.sources.search.searchers import Probe, probe_all, searched_again
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Quantization
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.validation.index.ann import AnnResult, measure_ann, why_exact
from tests.support.qdrant_server import QdrantStandIn

POINTS, SIZE, SEARCHES = 3000, 32, 40


def measured(
    hnsw: models.HnswConfigDiff, *, optimized: bool = True, **settings: Any
) -> tuple[CollectionFacts, str | None, AnnResult]:
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
            **settings,
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
        vector = facts.vectors[0]

        def again(how: Quantization) -> list[Probe]:
            return searched_again(probes, {"query": asked}, reader=reader, limit=10, quantization=how)

        result = measure_ann(probes, facts, vector, threshold=0.95, again=again)
        client.close()
    return facts, why_exact(facts, vector, asked_exact=False), result


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


def test_hits_lost_by_quantization_are_told_apart_from_those_lost_by_the_graph() -> None:
    binary = models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    graph = models.HnswConfigDiff(m=32, ef_construct=400, full_scan_threshold=10)
    facts, _, result = measured(graph, quantization_config=binary)
    assert facts.quantized
    [finding] = result.findings
    tried = finding.details["quantization"]
    assert finding.details["recall"] < 0.95 <= tried["ignored"]
    assert "quantized vectors" in finding.cause
    assert "hnsw_ef" not in finding.remedy
    assert ("rescore" in finding.remedy) == (tried["rescored"] >= 0.95)
