"""An honest index as a framework writes it: what it stores is compared, what it embeds is embedded again."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.sources.embedders.opening import open_embedder
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.suite.payload import usual_fields
from tests.orchestration.world import NAME, World

pytestmark = pytest.mark.usefixtures("without_gx")

EMBEDDED = ("source_url", "title")


def langchain(text: str, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"page_content": text, "metadata": {**metadata, "source": metadata["source_url"]}}


def llamaindex(text: str, metadata: dict[str, Any]) -> dict[str, Any]:
    metadata = {"url": metadata["source_url"], **metadata}
    node = {
        "text": text,
        "metadata": metadata,
        "excluded_embed_metadata_keys": [name for name in metadata if name not in EMBEDDED],
        "metadata_template": "{key}: {value}",
        "metadata_separator": "\n",
        "text_template": "{metadata_str}\n\n{content}",
    }
    return {**metadata, "_node_type": "TextNode", "_node_content": json.dumps(node)}


WRITERS = {"langchain": langchain, "llamaindex": llamaindex}


def rewrite(world: World, flavour: str) -> None:
    """Store the demo's chunks as the framework does, embedded as it embeds them."""
    from qdrant_client import QdrantClient, models

    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as client:
        points, _ = client.scroll(NAME, limit=1000)
        stored = [dict(point.payload or {}) for point in points]
        payloads = [WRITERS[flavour](payload.pop("chunk_text"), payload) for payload in stored]
        texts = [embedded_of(payload, usual_fields(flavour)["text"], flavour) for payload in payloads]
        vectors = open_embedder(provider="static").embed(texts, input_type="search_document").vectors.tolist()
        rows = [
            models.PointStruct(id=point.id, vector=vector, payload=payload)
            for point, vector, payload in zip(points, vectors, payloads, strict=True)
        ]
        client.upsert(NAME, rows)


@pytest.mark.parametrize("flavour", sorted(WRITERS))
def test_an_honest_index_of_a_framework_has_no_finding(world: World, flavour: str) -> None:
    rewrite(world, flavour)
    world.suite({"payload": None})
    suite = world.suite({"payload": {"flavour": flavour}})
    report = run_suite(suite, only=["coverage", "metadata", "chunks", "integrity", "vectors"]).report
    assert [finding.code for finding in report.findings] == []
    measured = {criterion.name: criterion.value for criterion in report.criteria}
    for name in ("coverage", "metadata_completeness", "content_integrity", "source_captured", "embedding_match"):
        assert measured[name] == pytest.approx(1.0, abs=0.01), name


def test_an_index_with_titles_in_front_of_the_embedded_texts_is_right_when_the_suite_says_so(world: World) -> None:
    from qdrant_client import QdrantClient, models

    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as client:
        points, _ = client.scroll(NAME, limit=1000)
        texts = [f"{(point.payload or {})['title']}\n{(point.payload or {})['chunk_text']}" for point in points]
        vectors = open_embedder(provider="static").embed(texts, input_type="search_document").vectors.tolist()
        rows = [
            models.PointStruct(id=point.id, vector=vector, payload=point.payload)
            for point, vector in zip(points, vectors, strict=True)
        ]
        client.upsert(NAME, rows)
    [finding] = run_suite(world.suite({}), only=["vectors"]).report.findings
    assert finding.code == "vector.model_mismatch"
    assert 'set embedded_text: "{title}\\n{text}" under payload' in finding.remedy
    report = run_suite(world.suite({"payload": {"embedded_text": "{title}\n{text}"}}), only=["vectors"]).report
    assert list(report.findings) == []
