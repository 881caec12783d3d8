from __future__ import annotations

import json
import uuid
from copy import deepcopy
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.store import StoredPoint
from tests.orchestration.world import World, report_file, run_job

#: Embeds short texts badly as documents, and everything well as queries.
EMBEDDER = """
import numpy as np
from ragval_pipeline.sources.embedders.static import StaticEmbedder

class Asymmetric:
    free, model = True, "wordllama/l2_supercat/256"

    def embed(self, texts, input_type):
        vectors = StaticEmbedder().embed(texts, input_type=input_type).vectors.copy()
        for vector, text in zip(vectors, texts):
            if input_type == "search_document" and len(text.split()) < 20:
                vector[:] = np.random.default_rng(len(text)).normal(size=len(vector))
        return vectors
"""


def findings_of(world: World, instance: dg.DagsterInstance, input_type: str) -> dict[str, Any]:
    (world.folder / "asymmetric_embedder.py").write_text(EMBEDDER, encoding="utf-8")
    embedding = {"provider": "asymmetric_embedder:Asymmetric", "model": None, "query_input_type": input_type}
    result = run_job(world.suite({"embedding": embedding}), instance=instance, only="queries")
    report = json.loads(report_file(result).read_text(encoding="utf-8"))
    return {finding["code"]: finding for finding in report["findings"]}


def test_queries_that_fail_because_they_are_embedded_as_documents_are_searched_for_as_queries(
    world: World, instance: dg.DagsterInstance
) -> None:
    found = findings_of(world, instance, "search_document")
    assert found["query.failed"]["because"] == "embedder.input_type"
    cleared = found["embedder.input_type"]["details"]["would_clear"]["query.failed"]
    assert len(cleared["cleared"]) == cleared["of"] == found["query.failed"]["count"]
    assert "query.failed" not in findings_of(world, instance, "search_query")


@pytest.mark.slow
def test_points_with_vectors_of_questions_about_their_text_are_no_copies_to_delete(
    demo: DemoHome, tmp_path: Path
) -> None:
    """Hypothetical prompt embeddings: each chunk is stored once for each question about it."""
    corpus = Corpus.load(demo.home).copy_to(tmp_path / "world")
    points = [replace_id(point, number) for point in corpus.points for number in range(2)]
    texts = [corpus.text(point) for point in points]
    halves = [(text[: len(text) // 2], text[len(text) // 2 :])[number % 2] for number, text in enumerate(texts)]
    asked = [f"What is known of {half[:60]}?" for half in halves]
    for point, vector in zip(points, corpus.embed(asked), strict=True):
        point.vector = vector
    corpus.points[:] = points
    run = run_suite(load_suite(corpus.write()), only=["chunks", "integrity", "vectors"])
    remediation = json.loads((Path(str(run.folder)) / "remediation.json").read_text(encoding="utf-8"))
    assert (remediation["delete_point_ids"], remediation["delete_pages"]) == ([], [])
    assert remediation["review_point_ids"]
    told = {finding.code: finding for finding in run.report.findings}
    assert "HyPE" in told["chunk.ingested_twice"].cause
    assert "HyPE" in told["vector.model_mismatch"].cause


def replace_id(point: StoredPoint, number: int) -> StoredPoint:
    copied = deepcopy(point)
    copied.id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{point.id}-{number}"))
    return copied
