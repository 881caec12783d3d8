"""What a recipe is, and the table of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from indexdefects.embed import embed
from indexdefects.points import Point, Shape, point_id


@dataclass(frozen=True)
class Document:
    """A page as an ingestion reads it.

    Attributes:
        url: Its address.
        title: Its title.
        markdown: The file of the documentation folder.
        html: The page as it is served.
    """

    url: str
    title: str
    markdown: str
    html: str


@dataclass(frozen=True)
class Chunk:
    """A chunk before it gets a vector.

    Attributes:
        payload: As the framework writes it to Qdrant.
        embedded: The text that the framework embeds.
    """

    payload: dict[str, Any]
    embedded: str


#: Splits a document, with the sizes multiplied by a factor.
Splitter = Callable[[Document, float], list[Chunk]]


@dataclass(frozen=True)
class Recipe:
    """A way to ingest: a framework's splitter, and the shape of what it stores."""

    name: str
    shape: Shape
    split: Splitter

    def ingest(self, documents: Sequence[Document], *, factor: float = 1.0, run: str = "") -> list[Point]:
        """The points of documents, by address and position; ``run`` makes the ids those of another ingestion."""
        chunks = [
            (point_id(document.url, number, *([run] if run else [])), chunk)
            for document in documents
            for number, chunk in enumerate(self.split(document, factor))
        ]
        vectors = embed([chunk.embedded for _, chunk in chunks])
        points = [
            Point(name, chunk.payload, vector, chunk.embedded)
            for (name, chunk), vector in zip(chunks, vectors, strict=True)
        ]
        for point in points:
            self.shape.set(point, self.shape.id, point.id)
        return points


NAMES = (
    "langchain_recursive",
    "llamaindex_sentences",
    "haystack_words",
    "markdown_headers",
    "html_stripped",
    "parent_child",
)


def recipe(name: str) -> Recipe:
    """A recipe by name; its framework is imported when it splits.

    Raises:
        KeyError: No recipe has this name.
    """
    if name not in {*NAMES, "paragraphs"}:
        raise KeyError(f"no recipe {name}; there are {', '.join(NAMES)}")
    found: Recipe = importlib.import_module(f"indexdefects.recipes.{name}").RECIPE
    return found
