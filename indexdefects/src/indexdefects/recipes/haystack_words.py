"""Haystack: `DocumentSplitter` by words, stored as `qdrant-haystack` does."""

from __future__ import annotations

from indexdefects.points import Shape
from indexdefects.recipes.base import Chunk, Document, Recipe

SHAPE = Shape(
    framework="haystack",
    text=("content",),
    url=("meta.url",),
    index=("meta.split_id",),
    others={"title": "meta.title"},
    metadata="meta",
)


def split(document: Document, factor: float) -> list[Chunk]:
    """Chunks of 90 words, 10 shared with the one before."""
    from haystack import Document as HaystackDocument
    from haystack.components.preprocessors import DocumentSplitter

    splitter = DocumentSplitter(split_by="word", split_length=int(90 * factor), split_overlap=int(10 * factor))
    splitter.warm_up()
    meta = {"url": document.url, "title": document.title}
    parts = splitter.run(documents=[HaystackDocument(content=document.markdown, meta=meta)])["documents"]
    chunks = []
    for part in parts:
        part.meta.pop("_split_overlap", None)
        payload = {"id": part.id, "content": part.content, "meta": dict(part.meta)}
        chunks.append(Chunk({**payload, "blob": None, "score": None}, part.content))
    return chunks


RECIPE = Recipe("haystack_words", SHAPE, split)
