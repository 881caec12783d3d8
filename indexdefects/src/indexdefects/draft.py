"""A world while it is made: a site, its right index, and what an injection does to the two."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from indexdefects.blocks import Page, as_html, as_markdown
from indexdefects.corpora.catalogue import Corpus
from indexdefects.embed import embed
from indexdefects.points import Point
from indexdefects.recipes.base import Document, Recipe
from indexdefects.sparse import sparse

SITE = "https://docs.example.com"
#: How much of an index a defect touches.
SHARES = {"one": 0.0, "tenth": 0.1, "half": 0.5}

T = TypeVar("T")


class NotHereError(Exception):
    """A defect cannot be made in this corpus by this recipe: there is nothing that it could damage."""


@dataclass
class Draft:
    """A site and an index of it.

    Attributes:
        corpus: Where its pages come from.
        recipe: How it was ingested.
        pages: The pages of the site as it is served now.
        points: The points of the index.
        rng: Random numbers of this world.
        share: A key of ``SHARES``.
        extra: What the manifest says beside the usual.
        layout: ``plain``, or ``hybrid`` for named dense and sparse vectors.
    """

    corpus: Corpus
    recipe: Recipe
    pages: list[Page]
    points: list[Point]
    rng: random.Random
    share: str
    extra: dict[str, Any] = field(default_factory=dict)
    layout: str = "plain"
    #: Pages of a corpus in another language.
    guests: Callable[[], Sequence[Page]] = tuple
    #: Names that a tool may give beside the subjects: of two equal points nothing tells which is the copy.
    also: set[str] = field(default_factory=set)
    #: Right points that equal a subject, with it: naming, or deleting, either is the same.
    same: dict[str, str] = field(default_factory=dict)
    #: The right index, where it is not what the recipe makes of the site.
    right: list[Point] | None = None

    def url(self, page: Page) -> str:
        """The page's address."""
        return f"{SITE}/{self.corpus.name}/{page.path}"

    def document(self, page: Page) -> Document:
        """The page as an ingestion reads it."""
        return Document(self.url(page), page.title, as_markdown(page), self.html(page))

    def html(self, page: Page) -> str:
        """The page as it is served."""
        return as_html(page, language=self.corpus.language, site=f"{self.corpus.name} documentation")

    def ingest(self, pages: Sequence[Page], **settings: Any) -> list[Point]:
        """The points that the recipe makes of pages; settings are those of ``Recipe.ingest``."""
        return self.recipe.ingest([self.document(page) for page in pages], **settings)

    def text(self, point: Point) -> str:
        """The text that a point stores."""
        return self.recipe.shape.text_of(point)

    def url_of(self, point: Point) -> str:
        """The address that a point stores."""
        return self.recipe.shape.url_of(point)

    def content(self, point: Point) -> str:
        """Payload and vector of a point without its id: equal for points that nothing tells apart."""
        copied = point.copy()
        self.recipe.shape.drop(copied, self.recipe.shape.id)
        return json.dumps([copied.payload, copied.vector.tolist()], sort_keys=True)

    def of(self, urls: Iterable[str]) -> list[Point]:
        """The points of pages."""
        wanted = set(urls)
        return [point for point in self.points if self.url_of(point) in wanted]

    def without(self, points: Iterable[Point]) -> list[Point]:
        """All points but these."""
        gone = {point.id for point in points}
        return [point for point in self.points if point.id not in gone]

    def store_texts(self, points: Sequence[Point], texts: Sequence[str]) -> None:
        """Store other texts, with their vectors: what a broken step before the embedding leaves."""
        shape = self.recipe.shape
        for point, text in zip(points, texts, strict=True):
            point.embedded = point.embedded.replace(self.text(point), text) if self.text(point) else text
            shape.set(point, shape.text, text)
        for point, vector in zip(points, embed([point.embedded for point in points]), strict=True):
            point.vector = vector

    def give_sparse(self) -> None:
        """Give all points a sparse vector beside the dense one; the right index has it, too."""
        self.layout = "hybrid"
        for point, words in zip(
            self.points, sparse(list(map(self.text, self.points)), self.corpus.language), strict=True
        ):
            point.sparse = words
        self.right = [point.copy() for point in self.points]

    def some(self, population: Sequence[T], *, of: int | None = None) -> list[T]:
        """Members of a population, as many as the world's share says: 1, a tenth or half of ``of`` (default: of it).

        Raises:
            NotHereError: The population is empty.
        """
        if not population:
            raise NotHereError
        count = max(1, round(SHARES[self.share] * (len(population) if of is None else of)))
        return self.rng.sample(list(population), min(count, len(population)))

    def some_points(self, fit: Callable[[Point], bool] = lambda point: True) -> list[Point]:
        """Points that the defect can damage, in the order of the index."""
        chosen = {point.id for point in self.some([point for point in self.points if fit(point)])}
        return [point for point in self.points if point.id in chosen]

    def some_pages(self, fit: Callable[[Page], bool] = lambda page: True) -> list[Page]:
        """Pages that the defect can damage, in the order of the site."""
        chosen = {page.path for page in self.some([page for page in self.pages if fit(page)])}
        return [page for page in self.pages if page.path in chosen]

    def swap(self, changed: Iterable[Page]) -> None:
        """Put changed pages in the place of those of the same path."""
        by_path = {page.path: page for page in changed}
        self.pages = [by_path.get(page.path, page) for page in self.pages]

    def distinct(self) -> Callable[[Point], bool]:
        """Whether a point's text is long, and stored once now: a defect in it has exactly one subject."""
        counts = self._texts()
        return lambda point: len(self.text(point)) >= 120 and counts[self.text(point)] == 1

    def _texts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for point in self.points:
            counts[self.text(point)] = counts.get(self.text(point), 0) + 1
        return counts
