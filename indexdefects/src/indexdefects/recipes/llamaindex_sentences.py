"""LlamaIndex: `SentenceSplitter`, stored as its Qdrant store does: the node as JSON, beside its metadata."""

from __future__ import annotations

from typing import Any

from indexdefects.points import Shape, point_id
from indexdefects.recipes.base import Chunk, Document, Recipe

SHAPE = Shape(
    framework="llamaindex",
    text=("_node_content#text",),
    url=("url", "_node_content#metadata.url"),
    others={"title": "title"},
    id=("_node_content#id_",),
)


def documents_of(document: Document) -> list[Any]:
    """The document as LlamaIndex reads it."""
    from llama_index.core import Document as LlamaDocument

    metadata = {"url": document.url, "title": document.title}
    return [LlamaDocument(text=document.markdown, metadata=metadata, id_=point_id("document", document.url))]


def stored(node: Any, at: int, document: Document) -> Chunk:
    """A node as `QdrantVectorStore` writes it."""
    from llama_index.core.schema import MetadataMode
    from llama_index.core.vector_stores.utils import node_to_metadata_dict

    node.id_ = point_id(document.url, at)
    embedded = node.get_content(metadata_mode=MetadataMode.EMBED)
    return Chunk(node_to_metadata_dict(node, remove_text=False, flat_metadata=False), embedded)


def split(document: Document, factor: float) -> list[Chunk]:
    """Chunks of about 160 tokens, 20 shared with the one before."""
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(chunk_size=int(160 * factor), chunk_overlap=int(20 * factor))
    nodes = splitter.get_nodes_from_documents(documents_of(document))
    for node in nodes:
        node.relationships = {kind: other for kind, other in node.relationships.items() if kind.name == "SOURCE"}
    return [stored(node, at, document) for at, node in enumerate(nodes)]


RECIPE = Recipe("llamaindex_sentences", SHAPE, split)
