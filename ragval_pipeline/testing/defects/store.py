"""Reading a corpus from its folder and writing it there."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ragval_pipeline.demo.ingest import page_name, write_points
from ragval_pipeline.demo.workspace import QDRANT, QUERIES_FILE, SITE, SUITE_FILE
from ragval_pipeline.sources.site.build_folder import SiteFolder
from ragval_pipeline.testing.defects.corpus import Corpus, StoredPoint, VectorSpace
from ragval_pipeline.testing.defects.site import Site

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


def load_corpus(folder: Path) -> Corpus:
    """Read the corpus of ``folder``: suite file, queries, site and embedded Qdrant under the demo's names.

    Raises:
        FileNotFoundError: One of them is missing.
    """
    folder = folder.absolute()
    originals = {name: (folder / name).read_text(encoding="utf-8") for name in (SUITE_FILE, QUERIES_FILE)}
    settings: dict[str, Any] = _parsed(originals[SUITE_FILE])
    with _opened(folder / QDRANT) as client:
        space, points = _read_points(client, settings["qdrant"])
    return Corpus(
        folder=folder,
        site=_read_site(folder / SITE, settings.get("source", {}).get("base_path")),
        points=points,
        queries=_parsed(originals[QUERIES_FILE]),
        settings=settings,
        space=space,
        originals=originals,
    )


def write_corpus(corpus: Corpus, folder: Path) -> Path:
    """Write a corpus into ``folder``; replaced parts are removed, everything else is left alone.

    The collection keeps its original name: a planter that changes the name in the settings only makes the suite read
    another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (SITE, QDRANT):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name, text in corpus.site.files.items():
        file = folder / SITE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    with _opened(folder / QDRANT) as client:
        _write_points(client, corpus)
    _write_yaml(folder / QUERIES_FILE, corpus.queries, corpus.originals)
    _write_yaml(folder / SUITE_FILE, corpus.settings, corpus.originals)
    return folder / SUITE_FILE


def _read_site(root: Path, base_path: str | None) -> Site:
    root = root.resolve()
    files = sorted(file for file in root.rglob("*") if file.is_file())
    site = Site({file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in files})
    urls = [entry.url for entry in site.entries]
    folder = SiteFolder(root, base_path)
    folder.learn_base_path(urls)
    found = {url: file.relative_to(root).as_posix() for url in urls if (file := folder.find(url))}
    site.names = {url: name for url, name in found.items() if name != page_name(url)}
    return site


@contextmanager
def _opened(path: Path) -> Iterator[QdrantClient]:
    from qdrant_client import QdrantClient

    with warnings.catch_warnings():
        # Local mode warns above 20,000 points; a corpus for benchmarks may have more.
        warnings.simplefilter("ignore", UserWarning)
        with closing(QdrantClient(path=str(path))) as client:
            yield client


def _read_points(client: QdrantClient, settings: Mapping[str, Any]) -> tuple[VectorSpace, list[StoredPoint]]:
    name, vector_name = settings["collection"], settings.get("vector_name")
    vectors: Any = client.get_collection(name).config.params.vectors
    entry = vectors[vector_name] if vector_name else vectors
    records = client.scroll(name, limit=client.count(name).count or 1, with_vectors=True)[0]
    points = [
        StoredPoint(_point_id(record.id), record.payload or {}, _vector(record.vector, vector_name))
        for record in records
    ]
    return VectorSpace(entry.size, entry.distance.value, vector_name), points


def _point_id(point_id: Any) -> str | int:
    return point_id if isinstance(point_id, int) else str(point_id)


def _vector(vector: Any, name: str | None) -> list[float] | None:
    return vector.get(name) if isinstance(vector, dict) else vector


def _write_points(client: QdrantClient, corpus: Corpus) -> None:
    from qdrant_client import models

    space = corpus.space
    points = [
        models.PointStruct(
            id=point.id,
            payload=point.payload,
            vector=point.vector if space.name is None else {space.name: point.vector} if point.vector else {},
        )
        for point in corpus.points
    ]
    write_points(client, _collection(corpus), points, size=space.size, distance=space.distance, vector_name=space.name)


def _collection(corpus: Corpus) -> str:
    original = corpus.originals.get(SUITE_FILE)
    return str(_parsed(original)["qdrant"]["collection"]) if original else corpus.collection


def _write_yaml(file: Path, content: Any, originals: Mapping[str, str]) -> None:
    text = originals.get(file.name)
    if text is None or _parsed(text) != content:
        text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120)
    file.write_text(text, encoding="utf-8", newline="\n")


def _parsed(text: str) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  (both are safe)
