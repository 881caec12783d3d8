"""LangChain: langchain-qdrant, its text splitters, its loaders and its indexing API."""

from __future__ import annotations

import uuid
from pathlib import Path

from common import FOLDER, Job, main, markdown
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import index
from langchain_qdrant import FastEmbedSparse, QdrantVectorStore, RetrievalMode
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter
from qdrant_client import models

SIZES = {"small": (500, 50), "large": (900, 90)}


class Embedder(Embeddings):
    """The tests' embedder."""

    def __init__(self, job: Job) -> None:
        self._embed = job.embed

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embed(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._embed([text])[0]


def documents(job: Job) -> list[Document]:
    """The pages, read as in LangChain's tutorial: of the page's head, nothing is kept."""
    from bs4 import SoupStrainer
    from langchain_community.document_loaders import WebBaseLoader

    how = {"parse_only": SoupStrainer(class_="content")}, {"separator": "\n", "strip": True}
    return WebBaseLoader(job.urls, bs_kwargs=how[0], bs_get_text_kwargs=how[1]).load()


def chunks(job: Job) -> list[Document]:
    size, overlap = SIZES[job.size]
    return RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap).split_documents(documents(job))


def opened(job: Job, **how: object) -> QdrantVectorStore:
    """The collection, created on the first ingestion as LangChain's documentation does."""
    client = job.client()
    if not client.collection_exists(job.collection):
        client.create_collection(
            job.collection, vectors_config=models.VectorParams(size=256, distance=models.Distance.COSINE)
        )
    return QdrantVectorStore(client=client, collection_name=job.collection, embedding=Embedder(job), **how)


def from_documents(job: Job) -> None:
    QdrantVectorStore.from_documents(chunks(job), Embedder(job), collection_name=job.collection, **job.qdrant)


def from_texts(job: Job) -> None:
    parts = chunks(job)
    texts, metadatas = [part.page_content for part in parts], [part.metadata for part in parts]
    QdrantVectorStore.from_texts(
        texts, Embedder(job), metadatas=metadatas, collection_name=job.collection, **job.qdrant
    )


def add_documents(job: Job) -> None:
    opened(job).add_documents(chunks(job))


def add_documents_with_ids(job: Job) -> None:
    """Ids of page and position: a second ingestion overwrites."""
    parts, ids, numbers = chunks(job), [], {}
    for part in parts:
        source = part.metadata["source"]
        numbers[source] = numbers.get(source, -1) + 1
        ids.append(str(uuid.uuid5(uuid.NAMESPACE_URL, f"{source}#{numbers[source]}")))
    opened(job).add_documents(parts, ids=ids)


def _sparse() -> FastEmbedSparse:
    return FastEmbedSparse(model_name="Qdrant/bm25", specific_model_path=str(FOLDER / "bm25"))


def hybrid(job: Job) -> None:
    QdrantVectorStore.from_documents(
        chunks(job), Embedder(job), sparse_embedding=_sparse(), retrieval_mode=RetrievalMode.HYBRID,
        collection_name=job.collection, vector_name="dense", sparse_vector_name="sparse",
        sparse_vector_params={"modifier": models.Modifier.IDF}, **job.qdrant,
    )  # fmt: skip


def sparse(job: Job) -> None:
    QdrantVectorStore.from_documents(
        chunks(job), None, sparse_embedding=_sparse(), retrieval_mode=RetrievalMode.SPARSE,
        collection_name=job.collection, sparse_vector_params={"modifier": models.Modifier.IDF}, **job.qdrant,
    )  # fmt: skip


def markdown_headers(job: Job) -> None:
    """MarkdownHeaderTextSplitter: headings leave the text and become metadata."""
    levels = [("#", "Header 1"), ("##", "Header 2"), ("###", "Header 3")]
    splitter, size = (
        MarkdownHeaderTextSplitter(levels),
        RecursiveCharacterTextSplitter(chunk_size=SIZES[job.size][0], chunk_overlap=0),
    )
    parts = []
    for url in job.urls:
        sections = splitter.split_text(markdown(job, url))
        for section in sections:
            section.metadata["source"] = url
        parts += size.split_documents(sections)
    opened(job).add_documents(parts)


def _index(cleanup: str | None):
    def run(job: Job) -> None:
        """The record manager outlives the process, as with SQLRecordManager."""
        try:
            from langchain_classic.indexes import SQLRecordManager
        except ImportError:
            from langchain.indexes import SQLRecordManager
        file = (
            Path(job.qdrant.get("path", "") or FOLDER).parent / "records.sqlite"
            if "path" in job.qdrant
            else Path.cwd() / "records.sqlite"
        )
        manager = SQLRecordManager(f"qdrant/{job.collection}", db_url=f"sqlite:///{file}")
        manager.create_schema()
        index(chunks(job), manager, opened(job), cleanup=cleanup, source_id_key="source")

    return run


WAYS = (from_documents, from_texts, add_documents, add_documents_with_ids, hybrid, sparse, markdown_headers)
CLEANUPS = (None, "incremental", "full", "scoped_full")
main({**{way.__name__: way for way in WAYS}, **{f"index_{mode}".lower(): _index(mode) for mode in CLEANUPS}})
