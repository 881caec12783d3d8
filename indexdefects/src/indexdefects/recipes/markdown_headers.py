"""LangChain: Markdown cut at its headings, which go to the metadata, and long sections cut again."""

from __future__ import annotations

from dataclasses import replace

from indexdefects.recipes.base import Chunk, Document, Recipe
from indexdefects.recipes.langchain_recursive import SHAPE

LEVELS = [("#" * level, f"Header {level}") for level in range(1, 5)]


def split(document: Document, factor: float) -> list[Chunk]:
    """A chunk for each section, of about 900 characters at most."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    sections = MarkdownHeaderTextSplitter(LEVELS).split_text(document.markdown)
    splitter = RecursiveCharacterTextSplitter(chunk_size=int(900 * factor), chunk_overlap=0)
    return [
        Chunk(
            {
                "page_content": part.page_content,
                "metadata": {**part.metadata, "source": document.url, "title": document.title, "chunk": at},
            },
            part.page_content,
        )
        for at, part in enumerate(splitter.split_documents(sections))
    ]


RECIPE = Recipe(
    "markdown_headers", replace(SHAPE, others={"title": "metadata.title", "headings": "metadata.Header *"}), split
)
