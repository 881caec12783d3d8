"""Make a world and write it: what a tool is given, and apart from it the truth."""

from __future__ import annotations

import functools
import json
import random
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from indexdefects.blocks import Block, Page, as_markdown
from indexdefects.corpora.build import pages_of
from indexdefects.corpora.catalogue import corpora
from indexdefects.defects.registry import families
from indexdefects.draft import SITE, Draft
from indexdefects.embed import DIMENSION, MODEL
from indexdefects.plan import Spec
from indexdefects.points import Point
from indexdefects.questions import questions
from indexdefects.recipes.base import recipe
from indexdefects.sparse import MODEL as SPARSE_MODEL
from indexdefects.sparse import Sparse

VERSION = "2.0"
COLLECTION = "docs"
#: Written last: a folder without it, or with that of another version, is made again.
DONE = "manifest.json"
#: Names of the vectors of hybrid worlds.
DENSE, SPARSE = "dense", "bm25"


@functools.cache
def corpus_pages(name: str, cache: Path) -> tuple[Page, ...]:
    """A corpus' pages, kept as JSON after the first call."""
    corpus = corpora()[name]
    kept = cache / "pages" / f"{name}-{corpus.version or 'generated'}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([asdict(page) for page in pages_of(corpus, cache)], ensure_ascii=False))
    return tuple(map(_page, json.loads(kept.read_text())))


def _page(entry: dict[str, Any]) -> Page:
    blocks = [Block(**{**block, "rows": tuple(map(tuple, block["rows"]))}) for block in entry["blocks"]]
    return Page(entry["path"], entry["title"], tuple(blocks))


def draft(spec: Spec, cache: Path) -> Draft:
    """The right world before its defect: a sample of the corpus' pages, and the recipe's index of them."""
    everything = list(corpus_pages(spec.corpus, cache))
    # The pages are the same at every share, so that only the share differs.
    chosen = random.Random(f"{spec.corpus} {spec.seed}").sample(everything, min(spec.pages, len(everything)))
    pages = sorted(chosen, key=lambda page: page.path)
    rng = random.Random(spec.name)
    made = Draft(corpora()[spec.corpus], recipe(spec.recipe), pages, [], rng, spec.share)
    if made.corpus.registry != "none":
        made.guests = functools.partial(corpus_pages, "click" if made.corpus.language != "en" else "vant", cache)
    made.points = made.ingest(pages)
    return made


def make(spec: Spec, folder: Path, cache: Path) -> bool:
    """Write a world to ``folder/worlds/NAME`` and its truth to ``folder/truths/NAME``; False if it was there.

    Raises:
        NotHereError: The corpus has nothing that the defect could damage.
        CorpusError: The corpus cannot be had.
    """
    world, truth = folder / "worlds" / spec.name, folder / "truths" / spec.name
    if is_made(world):
        return False
    for path in (world, truth):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    # Answers on a world of another version are worth nothing.
    for path in folder.glob(f"answers/*/*/{spec.name}.json"):
        path.unlink()
    family = families()[spec.family]
    made = draft(spec, cache)
    subjects = sorted(set(family.inject(made)))
    also = sorted(made.also - set(subjects))
    right = made.right if made.right is not None else made.ingest(made.pages)
    write_points(truth / "right.parquet", right)
    about = {"made": family.made, "tier": family.tier, "unit": family.unit, "ugly": family.ugly}
    points = {point.id: made.url_of(point) for point in made.points}
    answer = {
        **asdict(spec),
        **about,
        "subjects": subjects,
        "also": also,
        "same": made.same,
        "pages_of_points": points,
        "url": made.recipe.shape.url[0],
    }
    answer |= {"text": made.recipe.shape.text[0], "ids": made.recipe.shape.id}
    (truth / "truth.json").write_text(json.dumps(answer, ensure_ascii=False, indent=1))
    _write(made, right, world)
    return True


def is_made(world: Path) -> bool:
    """Whether a world is there, as this version makes it."""
    done = world / DONE
    return done.exists() and json.loads(done.read_text(encoding="utf-8"))["version"] == VERSION


def _write(made: Draft, right: Sequence[Point], world: Path) -> None:
    write_points(world / "points.parquet", made.points)
    _write_site(made, world)
    asked = questions(made, right, made.rng)
    lines = [json.dumps(question, ensure_ascii=False) for question in asked]
    (world / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _write_qdrant(made, world / "qdrant")
    manifest = {
        "version": VERSION,
        "site": SITE,
        "sitemap": "site/sitemap.xml",
        "language": made.corpus.language,
        "framework": made.recipe.shape.framework,
        "collection": COLLECTION,
        "vector_name": DENSE if made.layout == "hybrid" else None,
        "embedding": {"model": MODEL, "dimension": DIMENSION, "distance": "cosine"},
        "sparse": {"vector_name": SPARSE, "model": SPARSE_MODEL} if made.layout == "hybrid" else None,
        **made.extra,
        "fields": {**made.recipe.shape.fields(), **made.extra.get("fields", {})},
    }
    (world / DONE).write_text(json.dumps(manifest, ensure_ascii=False, indent=1))


def _write_site(made: Draft, world: Path) -> None:
    entries = []
    for page in made.pages:
        for path, text in (
            (world / "site" / made.corpus.name / page.path / "index.html", made.html(page)),
            (world / "sources" / f"{page.path}.md", as_markdown(page)),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        entries.append(f"<url><loc>{made.url(page)}</loc></url>\n")
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    sitemap = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{schema}">\n{"".join(entries)}</urlset>\n'
    (world / "site/sitemap.xml").write_text(sitemap, encoding="utf-8")


def write_points(path: Path, points: Sequence[Point]) -> None:
    """Points as Parquet: id, payload as JSON text, vector, and sparse vector where there are such."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    vectors = pa.array([point.vector.tolist() for point in points], type=pa.list_(pa.float32()))
    payloads = [json.dumps(point.payload, ensure_ascii=False, sort_keys=True) for point in points]
    columns: dict[str, Any] = {"id": [point.id for point in points], "payload": payloads, "vector": vectors}
    if any(point.sparse is not None for point in points):
        columns["sparse"] = pa.array([_listed(point.sparse) for point in points], type=_sparse_type())
    pq.write_table(pa.table(columns), path)


def _sparse_type() -> Any:
    import pyarrow as pa

    return pa.struct({"indices": pa.list_(pa.uint32()), "values": pa.list_(pa.float32())})


def _listed(vector: Sparse | None) -> dict[str, list[Any]] | None:
    if vector is None:
        return None
    return {"indices": sorted(vector), "values": [vector[index] for index in sorted(vector)]}


def read_points(path: Path) -> list[Point]:
    """Points as ``write_points`` wrote them; what was embedded is not kept."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    vectors = table["vector"].combine_chunks().flatten().to_numpy().reshape(len(table), -1)
    listed = table["sparse"].to_pylist() if "sparse" in table.column_names else [None] * len(table)
    sparse = [each and dict(zip(each["indices"], each["values"], strict=True)) for each in listed]
    rows = zip(table["id"].to_pylist(), table["payload"].to_pylist(), vectors, sparse, strict=True)
    return [Point(name, json.loads(payload), vector, "", words) for name, payload, vector, words in rows]


def _write_qdrant(made: Draft, folder: Path) -> None:
    from qdrant_client import QdrantClient

    # The embedded Qdrant waits for the disk after each point; in memory that costs nothing.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as fast:
        client = QdrantClient(path=f"{fast}/qdrant")
        load(client, COLLECTION, made.points, hybrid=made.layout == "hybrid")
        client.close()
        shutil.copytree(f"{fast}/qdrant", folder)


def load(client: Any, collection: str, points: Sequence[Point], *, hybrid: bool) -> None:
    """Create a collection and upsert points, in an embedded Qdrant or on a server."""
    from qdrant_client import models

    size = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
    sparse = {SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)}
    if hybrid:
        client.create_collection(collection, vectors_config={DENSE: size}, sparse_vectors_config=sparse)
    else:
        client.create_collection(collection, vectors_config=size)
    structs = [
        models.PointStruct(
            id=int(point.id) if point.id.isdigit() else point.id,
            payload=point.payload,
            vector=_vector(point, hybrid=hybrid),
        )
        for point in points
    ]
    for start in range(0, len(structs), 256):
        client.upsert(collection, structs[start : start + 256])


def _vector(point: Point, *, hybrid: bool) -> Any:
    from qdrant_client import models

    if not hybrid:
        return point.vector.tolist()
    words = _listed(point.sparse)
    return {DENSE: point.vector.tolist(), **({SPARSE: models.SparseVector(**words)} if words else {})}
