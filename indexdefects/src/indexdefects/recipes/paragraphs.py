"""No framework: a chunk for each few paragraphs. For tests, where no framework is installed."""

from __future__ import annotations

from indexdefects.recipes.base import Chunk, Document, Recipe
from indexdefects.recipes.langchain_recursive import SHAPE, langchain_chunks


def split(document: Document, factor: float) -> list[Chunk]:
    """Paragraphs joined up to about 500 characters."""
    texts: list[str] = []
    for paragraph in document.markdown.strip().split("\n\n"):
        if texts and len(texts[-1]) + len(paragraph) < 500 * factor:
            texts[-1] += "\n\n" + paragraph
        else:
            texts.append(paragraph)
    return langchain_chunks(texts, document)


RECIPE = Recipe("paragraphs", SHAPE, split)
