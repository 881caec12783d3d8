"""LlamaIndex: llama-index-vector-stores-qdrant, its node parsers, its index and its ingestion pipeline."""

from __future__ import annotations

from pathlib import Path

from common import FOLDER, Job, article, fetch, main, markdown
from llama_index.core import Document, Settings, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    get_leaf_nodes,
)
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import models

SIZES = {"small": (128, 16), "large": (256, 24)}
STORAGE = Path("storage")


class Embedder(BaseEmbedding):
    """The tests' embedder."""

    url: str

    def _embed(self, texts: list[str]) -> list[list[float]]:
        return Job("", self.url, {}, "", "").embed(texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embed(texts)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._embed([query])[0]


def documents(job: Job, *, named: bool = True) -> list[Document]:
    """The pages; named by their addresses, so that a page can be found again."""
    pages = ((url, *article(fetch(url))) for url in job.urls)
    return [
        Document(text=text, metadata={"url": url, "title": title}, **({"doc_id": url} if named else {}))
        for url, title, text in pages
    ]


def splitter(job: Job) -> SentenceSplitter:
    size, overlap = SIZES[job.size]
    return SentenceSplitter(chunk_size=size, chunk_overlap=overlap)


def store(job: Job, **how: object) -> QdrantVectorStore:
    return QdrantVectorStore(collection_name=job.collection, client=job.client(), **how)


def _write(job: Job, parts: list, vectors: QdrantVectorStore | None = None, **how: object) -> None:
    context = StorageContext.from_defaults(vector_store=vectors or store(job))
    VectorStoreIndex(parts, storage_context=context, **how)


def from_documents(job: Job) -> None:
    context = StorageContext.from_defaults(vector_store=store(job))
    VectorStoreIndex.from_documents(
        documents(job, named=False), storage_context=context, transformations=[splitter(job)]
    )


def hybrid(job: Job) -> None:
    from fastembed import SparseTextEmbedding

    model = SparseTextEmbedding("Qdrant/bm25", specific_model_path=str(FOLDER / "bm25"))

    def encode(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
        found = list(model.embed(texts))
        return [each.indices.tolist() for each in found], [each.values.tolist() for each in found]

    # With functions of one's own, LlamaIndex does not set the modifier that BM25 needs.
    config = models.SparseVectorParams(modifier=models.Modifier.IDF)
    vectors = store(job, enable_hybrid=True, sparse_doc_fn=encode, sparse_query_fn=encode, sparse_config=config)
    _write(job, splitter(job).get_nodes_from_documents(documents(job)), vectors)


def refresh(job: Job) -> None:
    """``refresh_ref_docs`` with the index's own storage: changed pages are replaced."""
    Settings.transformations = [splitter(job)]
    vectors, pages = store(job), documents(job)
    if STORAGE.exists():
        context = StorageContext.from_defaults(persist_dir=str(STORAGE), vector_store=vectors)
        index = load_index_from_storage(context, store_nodes_override=True)
        index.refresh_ref_docs(pages)
    else:
        context = StorageContext.from_defaults(vector_store=vectors)
        index = VectorStoreIndex.from_documents(pages, storage_context=context, store_nodes_override=True)
    index.storage_context.persist(str(STORAGE))


def _pipeline(strategy: DocstoreStrategy):
    def run(job: Job) -> None:
        """The pipeline's documents are kept between runs."""
        file = STORAGE / "docstore.json"
        kept = SimpleDocumentStore.from_persist_path(str(file)) if file.exists() else SimpleDocumentStore()
        pipeline = IngestionPipeline(
            transformations=[splitter(job), Settings.embed_model], docstore=kept, docstore_strategy=strategy,
            vector_store=store(job), disable_cache=True,
        )  # fmt: skip
        pipeline.run(documents=documents(job))
        STORAGE.mkdir(exist_ok=True)
        kept.persist(str(file))

    return run


def markdown_nodes(job: Job) -> None:
    """MarkdownNodeParser: a node per section, the path of headings as metadata."""
    pages = [Document(text=markdown(job, url), metadata={"url": url}) for url in job.urls]
    _write(job, MarkdownNodeParser().get_nodes_from_documents(pages))


def sentence_windows(job: Job) -> None:
    """SentenceWindowNodeParser: a node per sentence, its neighbours as metadata that is not embedded."""
    _write(job, SentenceWindowNodeParser.from_defaults(window_size=2).get_nodes_from_documents(documents(job)))


def hierarchy(job: Job) -> None:
    """HierarchicalNodeParser: leaves are embedded, their parents stay in the document store."""
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[512, 256, 128], chunk_overlap=16)
    _write(job, get_leaf_nodes(parser.get_nodes_from_documents(documents(job))))


def start(way):
    def run(job: Job) -> None:
        Settings.embed_model = Embedder(url=job.embedder)
        Settings.llm = None
        way(job)

    return run


WAYS = (from_documents, hybrid, refresh, markdown_nodes, sentence_windows, hierarchy)
PIPELINES = {f"pipeline_{strategy.value}": _pipeline(strategy) for strategy in DocstoreStrategy}
main({name: start(way) for name, way in ({way.__name__: way for way in WAYS} | PIPELINES).items()})
