"""Small collections as other ingesters write them, embedded with the offline embedder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ragval_pipeline.sources.embedders import open_embedder

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


def store(
    folder: Path,
    payloads: Sequence[dict[str, Any]],
    *,
    names: Sequence[str] = ("docs",),
    vector_name: str | None = None,
    size: int = 256,
    text: str = "page_content",
) -> Path:
    """Write the payloads as points of every collection in ``names``; ``size`` cuts or repeats the vectors."""
    from qdrant_client import QdrantClient, models

    texts = [str(payload.get(text, payload)) for payload in payloads]
    rows = open_embedder(provider="static").embed(texts, input_type="search_document").vectors.tolist()
    vectors = [(row * (size // 256 + 1))[:size] for row in rows]
    space = models.VectorParams(size=size, distance=models.Distance.COSINE)
    with closing(QdrantClient(path=str(folder))) as client:
        for name in names:
            client.create_collection(name, vectors_config={vector_name: space} if vector_name else space)
            points = [
                models.PointStruct(id=number, vector={vector_name: vector} if vector_name else vector, payload=payload)
                for number, (vector, payload) in enumerate(zip(vectors, payloads, strict=True))
            ]
            if points:
                client.upsert(name, points)
    return folder
