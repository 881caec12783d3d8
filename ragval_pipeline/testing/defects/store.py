"""The parts of a corpus: its site in memory, and points, HTML and YAML files in its folder."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import yaml

from ragval_pipeline.demo.ingest import page_name, write_points
from ragval_pipeline.demo.site import SITEMAP_NAMESPACE, sitemap_xml
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.sources.site.build_folder import SiteFolder
from ragval_pipeline.sources.site.html.furniture import content_element

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


SITEMAP_FILE = "sitemap.xml"
#: A text that no page has.
_PLACE = "[[ragval: here]]"


class Entry(NamedTuple):
    """One page of the sitemap: its address, and its lastmod as written or None."""

    url: str
    lastmod: str | None


@dataclass
class Site:
    """A built site.

    Attributes:
        files: Text of each file by its path in the site's folder, with ``/``; includes ``sitemap.xml``.
        names: File of each page by its address, if it is not an ``index.html`` in its own folder.
    """

    files: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def entries(self) -> list[Entry]:
        """Pages of the sitemap, in its order."""
        root = ElementTree.fromstring(self.files[SITEMAP_FILE])  # noqa: S314 - the corpus' own file
        name = f"{{{SITEMAP_NAMESPACE}}}"
        return [
            Entry((node.findtext(f"{name}loc") or "").strip(), node.findtext(f"{name}lastmod"))
            for node in root.iter(f"{name}url")
        ]

    def set_entries(self, entries: Iterable[Entry]) -> None:
        """Rewrite the sitemap."""
        self.files[SITEMAP_FILE] = sitemap_xml(entries)

    def remove_entries(self, urls: Iterable[str]) -> None:
        """Remove pages from the sitemap; their files stay."""
        gone = set(urls)
        self.set_entries(entry for entry in self.entries if entry.url not in gone)

    def set_lastmod(self, dates: dict[str, str]) -> None:
        """Change the lastmod of some pages, by address."""
        self.set_entries(entry._replace(lastmod=dates.get(entry.url, entry.lastmod)) for entry in self.entries)

    def html(self, url: str) -> str:
        """HTML of a page.

        Raises:
            NothingToSpoilError: The site has no file for it.
        """
        name = self._name(url)
        if name not in self.files:
            raise NothingToSpoilError(f"the site has no file for {url}")
        return self.files[name]

    def set_html(self, url: str, html: str) -> None:
        """Replace the HTML of a page."""
        self.files[self._name(url)] = html

    def append(self, url: str, html: str) -> None:
        """Append HTML to a page's content."""
        from selectolax.lexbor import LexborHTMLParser

        tree = LexborHTMLParser(self.html(url))
        if tree.body is None:
            raise NothingToSpoilError(f"{url} has no body")
        content_element(tree.body)[0].insert_child(_PLACE)
        self.set_html(url, (tree.html or "").replace(_PLACE, html))

    def remove_html(self, url: str) -> None:
        """Remove the file of a page; its entry stays in the sitemap."""
        del self.files[self._name(url)]

    def _name(self, url: str) -> str:
        return self.names.get(url) or page_name(url)


@dataclass
class StoredPoint:
    """A point as in Qdrant; ``vector`` is None for a point without the collection's (named) vector.

    ``sparse`` is its sparse vector, weight by index; None without one.
    """

    id: str | int
    payload: dict[str, Any]
    vector: list[float] | None
    sparse: dict[int, float] | None = None


@dataclass(frozen=True)
class VectorSpace:
    """Size, distance and name of the collection's vectors.

    ``sparse`` is the name of its sparse vector, None without one; ``idf``: whether that has the modifier.
    """

    size: int
    distance: str = "Cosine"
    name: str | None = None
    sparse: str | None = None
    idf: bool = True


def read_site(root: Path, base_path: str | None) -> Site:
    """The built site below ``root``."""
    root = root.resolve()
    files = sorted(file for file in root.rglob("*") if file.is_file())
    site = Site({file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in files})
    urls = [entry.url for entry in site.entries]
    folder = SiteFolder(root, base_path)
    folder.learn_base_path(urls)
    found = {url: file.relative_to(root).as_posix() for url in urls if (file := folder.find(url))}
    site.names = {url: name for url, name in found.items() if name != page_name(url)}
    return site


def write_site(site: Site, root: Path) -> None:
    """Replace everything below ``root`` with a site."""
    shutil.rmtree(root, ignore_errors=True)
    for name, text in site.files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")


def read_points(path: Path, collection: str, vector_name: str | None) -> tuple[VectorSpace, list[StoredPoint]]:
    """All points of a collection of the embedded Qdrant at ``path``."""
    with _opened(path) as client:
        vectors: Any = client.get_collection(collection).config.params.vectors
        entry = vectors[vector_name] if vector_name else vectors
        records: Any = client.scroll(collection, limit=client.count(collection).count or 1, with_vectors=True)[0]
    points = [
        StoredPoint(
            record.id if isinstance(record.id, int) else str(record.id),
            record.payload or {},
            record.vector.get(vector_name) if isinstance(record.vector, dict) else record.vector,
        )
        for record in records
    ]
    return VectorSpace(entry.size, entry.distance.value, vector_name), points


def new_collection(path: Path, collection: str, points: Sequence[StoredPoint], space: VectorSpace) -> None:
    """Replace the embedded Qdrant at ``path`` with one that has this collection."""
    from qdrant_client import models

    shutil.rmtree(path, ignore_errors=True)
    structs = [
        models.PointStruct(
            id=point.id,
            payload=point.payload,
            vector=_vectors_of(point, space),
        )
        for point in points
    ]
    with _opened(path) as client:
        modifier = models.Modifier.IDF if space.idf else None
        sparse = {space.sparse: models.SparseVectorParams(modifier=modifier)} if space.sparse else None
        how: Any = {"size": space.size, "distance": space.distance, "vector_name": space.name, "sparse": sparse}
        write_points(client, collection, structs, **how)


def _vectors_of(point: StoredPoint, space: VectorSpace) -> Any:
    from qdrant_client import models

    if space.sparse is None and space.name is None:
        return point.vector
    dense = {space.name or "": point.vector} if point.vector else {}
    if space.sparse is None or point.sparse is None:
        return dense
    sparse = models.SparseVector(indices=list(point.sparse), values=list(point.sparse.values()))
    return {**dense, space.sparse: sparse}


def write_yaml(file: Path, content: Any, original: str | None) -> None:
    """Write a file's content: its original text if that has the same content."""
    text = original
    if text is None or parsed(text) != content:
        text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120)
    file.write_text(text, encoding="utf-8", newline="\n")


def parsed(text: str) -> Any:
    """The content of a YAML file."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  (both are safe)


@contextmanager
def _opened(path: Path) -> Iterator[QdrantClient]:
    from qdrant_client import QdrantClient

    with warnings.catch_warnings():
        # Local mode warns above 20,000 points; a corpus for benchmarks may have more.
        warnings.simplefilter("ignore", UserWarning)
        with closing(QdrantClient(path=str(path))) as client:
            yield client
