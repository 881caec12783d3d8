"""A crawler that strips the tags of `main` with Beautiful Soup, and LangChain's splitter after it."""

from __future__ import annotations

from indexdefects.recipes.base import Chunk, Document, Recipe
from indexdefects.recipes.langchain_recursive import SHAPE, langchain_chunks


def split(document: Document, factor: float) -> list[Chunk]:
    """Chunks of about 500 characters without overlap."""
    from bs4 import BeautifulSoup
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    soup = BeautifulSoup(document.html, "html.parser")
    text = (soup.main or soup).get_text("\n", strip=True)
    splitter = RecursiveCharacterTextSplitter(chunk_size=int(500 * factor), chunk_overlap=0)
    return langchain_chunks(splitter.split_text(text), document)


RECIPE = Recipe("html_stripped", SHAPE, split)
