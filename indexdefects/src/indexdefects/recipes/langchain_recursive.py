"""LangChain: Markdown files cut by `RecursiveCharacterTextSplitter`, stored as `langchain-qdrant` does."""

from __future__ import annotations

from indexdefects.points import Shape
from indexdefects.recipes.base import Chunk, Document, Recipe

SHAPE = Shape(
    framework="langchain",
    text=("page_content",),
    url=("metadata.source",),
    index=("metadata.chunk",),
    others={"title": "metadata.title"},
    metadata="metadata",
)


def langchain_chunks(texts: list[str], document: Document) -> list[Chunk]:
    """Texts with the payload that `langchain-qdrant` writes."""
    return [
        Chunk({"page_content": text, "metadata": {"source": document.url, "title": document.title, "chunk": at}}, text)
        for at, text in enumerate(texts)
    ]


def split(document: Document, factor: float) -> list[Chunk]:
    """Chunks of about 600 characters, 80 shared with the one before."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=int(600 * factor), chunk_overlap=int(80 * factor))
    return langchain_chunks(splitter.split_text(document.markdown), document)


RECIPE = Recipe("langchain_recursive", SHAPE, split)
