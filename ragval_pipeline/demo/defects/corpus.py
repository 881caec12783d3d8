"""An index world that can be spoilt: site, points, queries and suite settings, in memory, and the folder it belongs in.

What lives here: looking at the world and changing it. What does not: reading and writing the folder (``store``),
choosing what to spoil (``choose``) and spoiling it (``planters``).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.demo.defects.points import StoredPoint, VectorSpace
from ragval_pipeline.demo.defects.site import Site
from ragval_pipeline.sources.scope import Scope
from ragval_pipeline.sources.snapshot.values import lookup
from ragval_pipeline.suite.payload import DEFAULT_FIELDS

if TYPE_CHECKING:
    from ragval_pipeline.demo.defects.services import Service
    from ragval_pipeline.demo.workspace import DemoHome

__all__ = ["Corpus", "StoredPoint", "VectorSpace"]


@dataclass
class Corpus:
    """An editable copy of an index world.

    Args:
        folder: Where the world lives, absolute: ``write`` puts it there, and findings name places below it.
        site: HTML files and sitemap.
        points: Every point, in no particular order.
        queries: Test queries as their file holds them.
        settings: The suite file's content.
        space: Size, distance and name of the vectors.
        services: What stands between the run and Qdrant or the embedder; empty: nothing.
        spoilt: Pages, as the sitemap spells them, and query ids that a planter has already used.
        originals: Suite and query file as they were read, by file name: unchanged settings keep their comments.
    """

    folder: Path
    site: Site
    points: list[StoredPoint]
    queries: list[dict[str, Any]]
    settings: dict[str, Any]
    space: VectorSpace
    services: list[Service] = field(default_factory=list)
    spoilt: set[str] = field(default_factory=set)
    originals: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Corpus:
        """Read a world from a folder that holds ``ragval.yaml`` and all that it names, as ``write`` leaves it."""
        from ragval_pipeline.demo.defects.store import load_corpus

        return load_corpus(folder)

    @classmethod
    def of_demo(cls, home: DemoHome) -> Corpus:
        """Read the built demo."""
        return cls.load(home.home)

    def copy_to(self, folder: Path) -> Corpus:
        """A copy that will live in ``folder``; vectors are shared: planters replace them, never change them."""
        return replace(
            self,
            folder=folder.absolute(),
            site=Site(dict(self.site.files)),
            points=[replace(point, payload=deepcopy(point.payload)) for point in self.points],
            queries=deepcopy(self.queries),
            settings=deepcopy(self.settings),
            services=list(self.services),
            spoilt=set(self.spoilt),
        )

    def write(self, into: Path | None = None) -> Path:
        """Write site, index, queries and suite file; older ones are replaced.

        Args:
            into: Null: the corpus' own folder.

        Returns:
            The suite file.
        """
        from ragval_pipeline.demo.defects.store import write_corpus

        return write_corpus(self, into or self.folder)

    @property
    def collection(self) -> str:
        """Name of the collection that the run asks for."""
        return str(self.settings["qdrant"]["collection"])

    @property
    def sitemap_location(self) -> str:
        """What findings call the sitemap."""
        sitemap = str(self.settings["source"]["sitemap"])
        return sitemap if "://" in sitemap else str(self.folder / sitemap)

    @property
    def fields(self) -> dict[str, str]:
        """Canonical name to payload name."""
        return {**DEFAULT_FIELDS, **self.settings.get("payload", {}).get("fields", {})}

    @property
    def scope_urls(self) -> list[str]:
        """In-scope pages as the sitemap spells them, in its order."""
        source = self.settings["source"]
        scope = Scope(source.get("include", ()), source.get("exclude", ()))
        return [entry.url for entry in self.site.entries if scope.contains(entry.url)]

    def get(self, point: StoredPoint, name: str) -> Any:
        """The payload's value for a canonical name; null when it has none."""
        return lookup(point.payload, self.fields[name])[1]

    def put(self, point: StoredPoint, name: str, value: Any) -> None:
        """Set the payload's value for a canonical name."""
        holder, key = self._holder(point, name)
        holder[key] = value

    def drop(self, point: StoredPoint, name: str) -> None:
        """Take the key of a canonical name out of the payload."""
        holder, key = self._holder(point, name)
        del holder[key]

    def _holder(self, point: StoredPoint, name: str) -> tuple[dict[str, Any], str]:
        path = self.fields[name]
        if path in point.payload or "." not in path:
            return point.payload, path
        *parents, key = path.split(".")
        holder = point.payload
        for parent in parents:
            holder = holder.setdefault(parent, {})
        return holder, key

    def pages(self) -> dict[str, list[StoredPoint]]:
        """Points of each indexed page, by the stored spelling of its address, in chunk order."""
        pages: dict[str, list[StoredPoint]] = {}
        for point in self.points:
            url = self.get(point, "source_url")
            if isinstance(url, str) and url:
                pages.setdefault(url, []).append(point)
        for points in pages.values():
            points.sort(key=self._position)
        return pages

    def _position(self, point: StoredPoint) -> int:
        index = self.get(point, "chunk_index")
        return index if isinstance(index, int) else -1

    def embed(
        self, texts: Sequence[str], *, input_type: Literal["search_query", "search_document"] = "search_document"
    ) -> list[list[float]]:
        """Vectors of texts, by the embedder that made the index."""
        from ragval_pipeline.sources.embedders import open_embedder

        settings = self.settings["embedding"]
        with closing(open_embedder(provider=settings["provider"], model=settings.get("model"))) as embedder:
            vectors: list[list[float]] = embedder.embed(texts, input_type=input_type).vectors.tolist()
        return vectors

    def search(self, texts: Sequence[str]) -> list[list[tuple[float, StoredPoint]]]:
        """For each text every point with its cosine, best first: what an exact search answers."""
        import numpy as np

        held = [point for point in self.points if point.vector is not None]
        matrix = np.array([point.vector for point in held], dtype=np.float32)
        scores = np.array(self.embed(texts, input_type="search_query"), dtype=np.float32) @ matrix.T
        return [[(float(row[at]), held[at]) for at in np.argsort(-row, kind="stable")] for row in scores]
