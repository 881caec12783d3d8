"""Haystack: qdrant-haystack, its splitters and its DocumentWriter."""

import os
from typing import List  # noqa: UP035  pipelines compare annotations, and older splitters have this one

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
from common import FOLDER, Job, article, fetch, main, markdown
from haystack import Document, Pipeline, component
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import SparseEmbedding
from haystack.document_stores.types import DuplicatePolicy
from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

SIZES = {"small": (100, 15), "large": (200, 20)}


@component
class Embedder:
    """The tests' embedder."""

    def __init__(self, job: Job, *, sparse: bool = False) -> None:
        self.job, self.sparse = job, sparse

    @component.output_types(documents=List[Document])  # noqa: UP006
    def run(self, documents: List[Document]) -> dict:  # noqa: UP006
        vectors = self.job.embed([document.content for document in documents])
        for document, vector in zip(documents, vectors, strict=True):
            document.embedding = vector
        if self.sparse:
            from fastembed import SparseTextEmbedding

            model = SparseTextEmbedding("Qdrant/bm25", specific_model_path=str(FOLDER / "bm25"))
            found = model.embed([document.content for document in documents])
            for document, each in zip(documents, found, strict=True):
                document.sparse_embedding = SparseEmbedding(each.indices.tolist(), each.values.tolist())
        return {"documents": documents}


def documents(job: Job) -> list[Document]:
    pages = ((url, *article(fetch(url))) for url in job.urls)
    return [Document(content=text, meta={"url": url, "title": title}) for url, title, text in pages]


def _write(
    job: Job, splitter: object, pages: list[Document], *, policy=DuplicatePolicy.OVERWRITE, sparse=False
) -> None:
    store = QdrantDocumentStore(
        **job.qdrant, index=job.collection, embedding_dim=256, use_sparse_embeddings=sparse, progress_bar=False,
        **({"sparse_idf": True} if sparse else {}),
    )  # fmt: skip
    pipeline = Pipeline()
    pipeline.add_component("splitter", splitter)
    pipeline.add_component("embedder", Embedder(job, sparse=sparse))
    pipeline.add_component("writer", DocumentWriter(store, policy=policy))
    pipeline.connect("splitter", "embedder")
    pipeline.connect("embedder", "writer")
    pipeline.run({"splitter": {"documents": pages}})


def words(job: Job) -> None:
    """DocumentSplitter by words."""
    size, overlap = SIZES[job.size]
    _write(job, DocumentSplitter(split_by="word", split_length=size, split_overlap=overlap), documents(job))


def passages(job: Job) -> None:
    """DocumentSplitter by lines, without overlap."""
    size = {"small": 8, "large": 16}[job.size]
    _write(job, DocumentSplitter(split_by="line", split_length=size), documents(job))


def sparse(job: Job) -> None:
    size, overlap = SIZES[job.size]
    _write(
        job, DocumentSplitter(split_by="word", split_length=size, split_overlap=overlap), documents(job), sparse=True
    )


def _markdown(*, keep: bool):
    def run(job: Job) -> None:
        """MarkdownHeaderSplitter; headings stay in the text or become metadata."""
        from haystack.components.preprocessors import MarkdownHeaderSplitter

        pages = [Document(content=markdown(job, url), meta={"url": url}) for url in job.urls]
        splitter = MarkdownHeaderSplitter(keep_headers=keep, secondary_split="word", split_length=SIZES[job.size][0])
        _write(job, splitter, pages)

    return run


def recursive(job: Job) -> None:
    from haystack.components.preprocessors import RecursiveDocumentSplitter

    size, overlap = SIZES[job.size]
    splitter = RecursiveDocumentSplitter(
        split_length=size, split_overlap=overlap, split_unit="word", separators=["\n\n", "\n", " "]
    )
    splitter.warm_up()
    _write(job, splitter, documents(job))


def hierarchy(job: Job) -> None:
    from haystack.components.preprocessors import HierarchicalDocumentSplitter

    splitter = HierarchicalDocumentSplitter(block_sizes={200, 100}, split_overlap=0, split_by="word")
    _write(job, splitter, documents(job))


WAYS = (words, passages, sparse, recursive, hierarchy)
main(
    {
        **{way.__name__: way for way in WAYS},
        "headers_kept": _markdown(keep=True),
        "headers_removed": _markdown(keep=False),
    }
)
