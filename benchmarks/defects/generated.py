"""The second corpus: a generated handbook of about 260 pages and 2,100 chunks, ingested as the demo is."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.defects.world.html import build_site
from benchmarks.defects.world.pages import HOST, Page, handbook
from benchmarks.defects.world.queries import MIN_SIMILARITY, queries_for
from ragval_pipeline.demo import ingest
from ragval_pipeline.demo.workspace import QDRANT, QUERIES_FILE, REPORTS, SITE, SUITE_FILE
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.store import StoredPoint, VectorSpace

COLLECTION = "glasshouse_handbook"
#: Later than every lastmod, and the same each time.
EMBEDDED_AT = "2025-07-01T06:00:00Z"
CACHE = Path(".ragval") / "benchmarks"


def generated_corpus() -> Corpus:
    """The corpus, built when the cache has none of this code and data."""
    folder = (CACHE / f"handbook-{_fingerprint()}").absolute()
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".handbook-", dir=CACHE) as fresh:
            built = Path(fresh) / "built"
            build_corpus(folder).write(built)
            shutil.move(built, folder)
    return Corpus.load(folder)


def build_corpus(folder: Path) -> Corpus:
    """Generate, ingest and ask: the corpus as it will live in ``folder``, not yet written."""
    return corpus_of(folder, handbook())


def corpus_of(folder: Path, pages: Sequence[Page], *, asked: bool = True) -> Corpus:
    """Ingest pages and ask about them: the corpus as it will live in ``folder``, not yet written.

    Args:
        folder: Where it will live.
        pages: Its pages.
        asked: False: it has no test queries yet.
    """
    site = build_site(pages)
    payloads = [payload for page in pages for payload in ingest.payloads_of(page.url, site.html(page.url))]
    corpus = Corpus(
        folder=folder.absolute(),
        site=site,
        points=_points(payloads),
        queries=[],
        settings=_settings(),
        space=VectorSpace(STATIC_DIMENSION),
    )
    corpus.queries = queries_for(corpus, pages) if asked else []
    return corpus


def _points(payloads: Sequence[dict[str, Any]]) -> list[StoredPoint]:
    points: list[StoredPoint] = []
    for point in ingest.embedded_points(payloads):
        vector: Any = point.vector
        points.append(StoredPoint(str(point.id), {**(point.payload or {}), "embedded_at": EMBEDDED_AT}, vector))
    return points


def _settings() -> dict[str, Any]:
    fields = {
        "text": "chunk_text", "source_url": "source_url", "title": "title", "module": "module_name",
        "chapter": "chapter_id", "headings": "heading_hierarchy", "token_count": "token_count",
        "chunk_index": "chunk_index", "text_hash": "text_hash", "model": "model", "embedded_at": "embedded_at",
    }  # fmt: skip
    required = ("source_url", "chapter", "module", "headings", "token_count", "chunk_index")
    return {
        "suite": COLLECTION,
        "report_uri": f"./{REPORTS}",
        "qdrant": {"path": f"./{QDRANT}", "collection": COLLECTION},
        "source": {"sitemap": f"./{SITE}/sitemap.xml", "site_root": f"./{SITE}", "include": ["/docs/**"]},
        "payload": {"fields": fields, "required": [fields[name] for name in required]},
        "embedding": {"provider": "static"},
        "queries": QUERIES_FILE,
        "retrieval": {
            "top_k": 5,
            "k": [3, 5],
            "min_similarity": MIN_SIMILARITY,
            "relevance_similarity": MIN_SIMILARITY,
        },
    }


def _fingerprint() -> str:
    """Changes with everything that the corpus is made of."""
    here = Path(__file__).parent
    files = [Path(__file__), *sorted((here / "world").glob("*.*")), Path(ingest.__file__)]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


__all__ = ["HOST", "SUITE_FILE", "Page", "build_corpus", "generated_corpus"]
