"""Small collections as other ingesters write them, embedded with the offline embedder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ragval_pipeline.sources.embedders.opening import open_embedder
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.suite.payload import usual_fields

PAGES = ("Gears and how they mesh", "Motors that do not stall", "Sensors for touch", "Batteries and heat")


def langchain_payloads() -> list[dict[str, Any]]:
    """LangChain: the text as page_content, the rest below metadata."""
    return [
        {
            "page_content": f"{title}. This page explains it at length, part {part}.",
            "metadata": {
                "source": f"https://robots.example/guide/{title.split()[0].lower()}",
                "title": f"{title} | Robots",
                "chunkIndex": part,
            },
        }
        for title in PAGES
        for part in range(2)
    ]


def llamaindex_payloads() -> list[dict[str, Any]]:
    """LlamaIndex: the node as JSON text, its metadata beside it; ``excluded`` is not embedded."""
    nodes = [
        {
            "id_": f"n{number}",
            "text": f"{title}. This page explains it at length.",
            "metadata": {"url": f"https://robots.example/guide/{number}", "title": title, "excluded": "x" * number},
            "excluded_embed_metadata_keys": ["excluded"],
            "relationships": {"1": {"node_id": f"d{number}", "metadata": {"url": "https://robots.example/other"}}},
            "metadata_template": "{key}: {value}",
            "metadata_separator": "\n",
            "text_template": "{metadata_str}\n\n{content}",
        }
        for number, title in enumerate(PAGES)
    ]
    return [
        {**node["metadata"], "doc_id": f"d{number}", "_node_type": "TextNode", "_node_content": json.dumps(node)}
        for number, node in enumerate(nodes)
    ]


def haystack_payloads() -> list[dict[str, Any]]:
    """Haystack: the text as content, the rest below meta."""
    return [
        {
            "id": f"{number:064x}",
            "content": f"{title}. This page explains it at length.",
            "meta": {"url": f"https://robots.example/guide/{number}", "title": title, "split_id": 0, "source_id": "s"},
        }
        for number, title in enumerate(PAGES)
    ]


def store(
    folder: Path,
    payloads: Sequence[dict[str, Any]],
    *,
    names: Sequence[str] = ("docs",),
    vector_name: str | Sequence[str] | None = None,
    size: int = 256,
    flavour: str = "langchain",
    texts: Sequence[str] | None = None,
) -> Path:
    """Write the payloads as points of every collection in ``names``; ``size`` cuts or repeats the vectors.

    Args:
        texts: What is embedded; None: what the framework embeds.
    """
    from qdrant_client import QdrantClient, models

    path = usual_fields(flavour)["text"]
    texts = texts or [embedded_of(payload, path, flavour) or str(payload) for payload in payloads]
    rows = open_embedder(provider="static").embed(texts, input_type="search_document").vectors.tolist()
    vectors = [(row * (size // 256 + 1))[:size] for row in rows]
    space = models.VectorParams(size=size, distance=models.Distance.COSINE)
    with closing(QdrantClient(path=str(folder))) as client:
        for name in names:
            called = [vector_name] if isinstance(vector_name, str) else vector_name
            client.create_collection(name, vectors_config=dict.fromkeys(called, space) if called else space)
            points = [
                models.PointStruct(
                    id=number, vector=dict.fromkeys(called, vector) if called else vector, payload=payload
                )
                for number, (vector, payload) in enumerate(zip(vectors, payloads, strict=True))
            ]
            if points:
                client.upsert(name, points)
    return folder
