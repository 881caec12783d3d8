"""An editable index with its surroundings: site, points, vectors, queries and settings in memory, and their folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.demo.workspace import QDRANT, QUERIES_FILE, SITE, SUITE_FILE
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.lazy import np
from ragval_pipeline.sources.payload_paths import json_object, lookup
from ragval_pipeline.sources.site.inventory import Scope
from ragval_pipeline.sources.snapshot.embedded import Template, embedded_of
from ragval_pipeline.suite.payload import PayloadSettings, usual_fields
from ragval_pipeline.testing.defects.store import (
    Site,
    StoredPoint,
    VectorSpace,
    new_collection,
    parsed,
    read_points,
    read_site,
    write_site,
    write_yaml,
)

if TYPE_CHECKING:
    from ragval_pipeline.testing.services import Service


@dataclass
class Corpus:
    """An editable copy of an index with its site, queries and suite.

    Attributes:
        folder: Absolute; ``write`` writes there, and findings name paths in it.
        site: HTML files and sitemap.
        points: Every point, in no particular order.
        queries: Test queries as in their file.
        settings: The suite file's content.
        space: Size, distance and name of the vectors.
        services: Wrappers between the run and Qdrant or the embedder.
        spoilt: Pages, as written in the sitemap, and query ids that a planter has already used.
        originals: Original suite and query file, by file name: unchanged settings keep their comments.
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
        """Read the corpus of ``folder``: suite file, queries, site and embedded Qdrant under the demo's names.

        Raises:
            FileNotFoundError: One of them is missing.
        """
        folder = folder.absolute()
        originals = {name: (folder / name).read_text(encoding="utf-8") for name in (SUITE_FILE, QUERIES_FILE)}
        settings: dict[str, Any] = parsed(originals[SUITE_FILE])
        qdrant = settings["qdrant"]
        space, points = read_points(folder / QDRANT, qdrant["collection"], qdrant.get("vector_name"))
        return cls(
            folder=folder,
            site=read_site(folder / SITE, settings.get("source", {}).get("base_path")),
            points=points,
            queries=parsed(originals[QUERIES_FILE]),
            settings=settings,
            space=space,
            originals=originals,
        )

    def copy_to(self, folder: Path) -> Corpus:
        """A copy for ``folder``; vectors are shared: planters replace them, never modify them."""
        return replace(
            self,
            folder=folder.absolute(),
            site=replace(self.site, files=dict(self.site.files)),
            points=[replace(point, payload=deepcopy(point.payload)) for point in self.points],
            queries=deepcopy(self.queries),
            settings=deepcopy(self.settings),
            services=list(self.services),
            spoilt=set(self.spoilt),
        )

    def write(self, into: Path | None = None) -> Path:
        """Write site, index, queries and suite file; older ones are replaced, everything else is left alone.

        The collection keeps its original name: a planter that changes the name in the settings only makes the suite
        read another one.

        Returns:
            The suite file.
        """
        folder, original = into or self.folder, self.originals.get(SUITE_FILE)
        collection = str(parsed(original)["qdrant"]["collection"]) if original else self.collection
        folder.mkdir(parents=True, exist_ok=True)
        write_site(self.site, folder / SITE)
        new_collection(folder / QDRANT, collection, self.points, self.space)
        for name, content in ((QUERIES_FILE, self.queries), (SUITE_FILE, self.settings)):
            write_yaml(folder / name, content, self.originals.get(name))
        return folder / SUITE_FILE

    @property
    def collection(self) -> str:
        """Name of the collection that the run reads."""
        return str(self.settings["qdrant"]["collection"])

    @property
    def sitemap_location(self) -> str:
        """The sitemap's name in findings."""
        sitemap = str(self.settings["source"]["sitemap"])
        return sitemap if "://" in sitemap else str(self.folder / sitemap)

    @property
    def fields(self) -> dict[str, str]:
        """Canonical name to payload name."""
        payload = self.settings.get("payload", {})
        return {**usual_fields(payload.get("flavour")), **payload.get("fields", {})}

    @property
    def required(self) -> list[str]:
        """Canonical names of the fields that every point must have."""
        required = PayloadSettings.model_validate(self.settings.get("payload", {})).required
        return [name for name, path in self.fields.items() if path in required]

    @property
    def scope_urls(self) -> list[str]:
        """In-scope pages as written in the sitemap, in its order.

        Raises:
            NothingToSpoilError: The suite names no site.
        """
        source = self.settings.get("source")
        if source is None:
            raise NothingToSpoilError("the suite has no site")
        scope = Scope(source.get("include", ()), source.get("exclude", ()))
        return [entry.url for entry in self.site.entries if scope.contains(entry.url)]

    def holds(self, name: str) -> bool:
        """Whether any point has the field of a canonical name."""
        path = self.fields[name]
        return any(lookup(point.payload, path)[0] for point in self.points)

    def get(self, point: StoredPoint, name: str) -> Any:
        """The payload's value for a canonical name; None if this point has none.

        Raises:
            NothingToSpoilError: No point of the index has one.
        """
        found, value = lookup(point.payload, self.fields[name])
        if not found:
            self.require(name)
        return value

    def require(self, name: str) -> None:
        """Check that the index has the field of a canonical name.

        Raises:
            NothingToSpoilError: No point has it.
        """
        if not self.holds(name):
            raise NothingToSpoilError(f"no point has {self.fields[name]}, the field for {name}")

    def headings(self, point: StoredPoint) -> list[str]:
        """The stored headings of a point, of which some collections have one, as a text."""
        held = self.get(point, "headings") or []
        return list(map(str, held)) if isinstance(held, list) else [str(held)]

    def text(self, point: StoredPoint) -> str:
        """The stored text of a point; empty if it has none."""
        return str(self.get(point, "text") or "")

    def embedded(self, point: StoredPoint) -> str:
        """The embedded text of a point: the stored one, with what the framework adds."""
        payload = self.settings.get("payload", {})
        said = payload.get("embedded_text")
        template = None if said is None else Template(said, self.fields)
        return embedded_of(point.payload, self.fields["text"], payload.get("flavour"), template)

    def put(self, point: StoredPoint, name: str, value: Any) -> None:
        """Set the payload's value for a canonical name."""
        _edit(point.payload, self.fields[name], lambda holder, key: holder.__setitem__(key, value))

    def drop(self, point: StoredPoint, name: str) -> None:
        """Remove the key of a canonical name from the payload."""
        _edit(point.payload, self.fields[name], lambda holder, key: holder.pop(key, None))

    def pages(self) -> dict[str, list[StoredPoint]]:
        """Points of each indexed page, by its stored address, in chunk order."""
        pages: dict[str, list[StoredPoint]] = {}
        for point in self.points:
            url = self.get(point, "source_url")
            if isinstance(url, str) and url:
                pages.setdefault(url, []).append(point)
        if self.holds("chunk_index"):
            for points in pages.values():
                points.sort(key=self._position)
        return pages

    def _position(self, point: StoredPoint) -> int:
        index = self.get(point, "chunk_index")
        return index if isinstance(index, int) else -1

    def embed(
        self, texts: Sequence[str], *, input_type: Literal["search_query", "search_document"] = "search_document"
    ) -> list[list[float]]:
        """Vectors of texts from the index's embedder."""
        from ragval_pipeline.sources.embedders.opening import open_embedder

        settings = self.settings["embedding"]
        with closing(open_embedder(provider=settings["provider"], model=settings.get("model"))) as embedder:
            vectors: list[list[float]] = embedder.embed(texts, input_type=input_type).vectors.tolist()
        return vectors

    def search(self, texts: Sequence[str]) -> list[list[tuple[float, StoredPoint]]]:
        """For each text every point with its cosine, best first: the result of an exact search."""
        held = [point for point in self.points if point.vector is not None]
        matrix = np.array([point.vector for point in held], dtype=np.float32)
        scores = np.array(self.embed(texts, input_type="search_query"), dtype=np.float32) @ matrix.T
        return [[(float(row[at]), held[at]) for at in np.argsort(-row, kind="stable")] for row in scores]


def _edit(payload: dict[str, Any], path: str, change: Callable[[dict[str, Any], str], object]) -> None:
    """Change the value that ``lookup`` finds under ``path``, in place; a JSON text on the way is rewritten."""
    outer, inside, inner = path.partition("#")
    *parents, key = [path] if path in payload else outer.split(".")
    for parent in parents:
        payload = payload.setdefault(parent, {})
    if path == key or not inside:
        change(payload, key)
        return
    held = deepcopy(dict(json_object(payload.get(key)) or {}))
    _edit(held, inner, change)
    payload[key] = json.dumps(held, ensure_ascii=False)
