"""The parts of a corpus in its folder: points of an embedded Qdrant, HTML files, and YAML files."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ragval_pipeline.demo.ingest import page_name, write_points
from ragval_pipeline.sources.site.build_folder import SiteFolder
from ragval_pipeline.testing.defects.site import Site

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


@dataclass
class StoredPoint:
    """A point as in Qdrant; ``vector`` is None for a point without the collection's (named) vector."""

    id: str | int
    payload: dict[str, Any]
    vector: list[float] | None


@dataclass(frozen=True)
class VectorSpace:
    """Size, distance and name of the collection's vectors."""

    size: int
    distance: str = "Cosine"
    name: str | None = None


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
        records = client.scroll(collection, limit=client.count(collection).count or 1, with_vectors=True)[0]
    points = [
        StoredPoint(_point_id(record.id), record.payload or {}, _vector(record.vector, vector_name))
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
            vector=point.vector if space.name is None else {space.name: point.vector} if point.vector else {},
        )
        for point in points
    ]
    with _opened(path) as client:
        write_points(client, collection, structs, size=space.size, distance=space.distance, vector_name=space.name)


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


def _point_id(point_id: Any) -> str | int:
    return point_id if isinstance(point_id, int) else str(point_id)


def _vector(vector: Any, name: str | None) -> list[float] | None:
    return vector.get(name) if isinstance(vector, dict) else vector
