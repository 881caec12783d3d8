"""Qdrant's own client: texts for one of the vectors, which the client embeds itself (inference)."""

from __future__ import annotations

import uuid

from common import FOLDER, Job, article, fetch, main
from langchain_text_splitters import RecursiveCharacterTextSplitter
from qdrant_client import models

SIZES = {"small": (500, 50), "large": (900, 90)}
BM25 = {"model": "Qdrant/bm25", "options": {"specific_model_path": str(FOLDER / "bm25")}}


def documents(job: Job) -> None:
    """Dense vectors of the embedder beside BM25 vectors of ``models.Document``, as in Qdrant's hybrid search."""
    size, overlap = SIZES[job.size]
    splitter, client = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap), job.client()
    if not client.collection_exists(job.collection):
        client.create_collection(
            job.collection,
            vectors_config={"dense": models.VectorParams(size=256, distance=models.Distance.COSINE)},
            sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
    for url in job.urls:
        title, text = article(fetch(url))
        parts = splitter.split_text(text)
        points = [
            models.PointStruct(
                id=str(uuid.uuid4()),
                vector={"dense": vector, "bm25": models.Document(text=part, **BM25)},
                payload={"document": part, "url": url, "title": title},
            )
            for part, vector in zip(parts, job.embed(parts), strict=True)
        ]
        client.upsert(job.collection, points)


main({"documents": documents})
