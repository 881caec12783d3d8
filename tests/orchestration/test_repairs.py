from __future__ import annotations

import json
from typing import Any

import dagster as dg

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
