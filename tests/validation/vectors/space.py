"""A collection of static vectors in memory, to be spoilt and then examined. Not a test."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ragval_pipeline.demo.site import load_pages
from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.kept.matches import Matches
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import VectorBatch
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.vectors import comparison
from ragval_pipeline.validation.vectors.classification import Lookups, VectorSettings
from ragval_pipeline.validation.vectors.measure import measure_vectors
from ragval_pipeline.validation.vectors.partition import with_texts

Floats = NDArray[np.float32]
SIZE = 256


@cache
def texts() -> tuple[str, ...]:
    """Paragraphs of the demo's book, each long enough to mean something."""
    found: dict[str, None] = {}
    for page in load_pages():
        blocks = [block.strip() for block in page.markdown.split("\n\n")]
        found.update(dict.fromkeys(block for block in blocks if len(block) >= 150))
    return tuple(found)


def embedded(given: Sequence[str]) -> Floats:
    """Static vectors of texts."""
    return StaticEmbedder().embed(list(given), input_type="search_document").vectors


@dataclass
class Space:
    """Points by id, in id order: rows of a snapshot, and stored vectors, None for a point without one."""

    rows: list[dict[str, Any]]
    vectors: list[Floats | None]
    embedder: Any = field(default_factory=StaticEmbedder)
    distance: str = "Cosine"
    made_for_cosine: bool = True
    batch: int = 40
    embedded_fields: tuple[str, ...] = ()
    template: str | None = None
    other_vectors: tuple[str, ...] = ()

    @property
    def ids(self) -> list[str]:
        """All point ids."""
        return [row["point_id"] for row in self.rows]

    def named(self, places: Collection[int]) -> set[str]:
        """Ids of the points at some places."""
        return {self.rows[place]["point_id"] for place in places}

    def set_text(self, place: int, text: str) -> None:
        """Change a text without embedding it again."""
        self.rows[place]["text"] = text
        self.rows[place]["text_sha256"] = hashlib.sha256(text.encode()).hexdigest()

    def vectors_of(self, ids: Sequence[str]) -> Iterator[VectorBatch]:
        """The vectors of points as a reader gives them."""
        places = [self.ids.index(name) for name in ids]
        for start in range(0, len(places), self.batch):
            yield self._batch(places[start : start + self.batch])

    def examined(self, sample: Collection[str] | None = None, matches: Matches | None = None) -> Measurement:
        """The measurement of ``vector_health``."""
        by_id = {row["point_id"]: {**row, "text_chars": len(row["text"] or "")} for row in self.rows}

        def rows_of(ids: Collection[str], columns: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
            return {name: {column: by_id[name][column] for column in columns} for name in ids}

        def embed_as(given: Sequence[str], input_type: str = "search_document") -> Floats:
            vectors: Floats = self.embedder.embed(list(given), input_type=input_type).vectors
            return vectors

        schema = pa.schema([(name, pa.string()) for name in comparison.COLUMNS])
        snapshot = pa.RecordBatch.from_pylist(
            [{key: row[key] for key in comparison.COLUMNS} for row in self.rows], schema=schema
        )

        def compare() -> comparison.Comparison:
            return comparison.compare_vectors(
                [snapshot], self.vectors_of, embed=embed_as, sample=sample, points=len(self.rows), matches=matches
            )

        found = with_texts(compare, matches)
        vector = VectorFacts(name=None, size=SIZE, distance=self.distance)  # type: ignore[arg-type]
        settings = VectorSettings(
            "c", vector, self.embedder.model, made_for_cosine=self.made_for_cosine,
            embedded_fields=self.embedded_fields, template=self.template, other_vectors=self.other_vectors,
        )  # fmt: skip
        lookups = None if sample is None else Lookups(self._nearest, self._some, embed_as)
        return measure_vectors(found, settings, rows_of=rows_of, embed_as=embed_as, lookups=lookups)

    def _batch(self, places: Collection[int]) -> VectorBatch:
        held = [(self.rows[place]["point_id"], self.vectors[place]) for place in places]
        there = [(name, vector) for name, vector in held if vector is not None]
        matrix = np.stack([vector for _, vector in there]) if there else np.empty((0, 0), dtype=np.float32)
        missing = tuple(name for name, vector in held if vector is None)
        return VectorBatch(tuple(name for name, _ in there), matrix, missing)

    def _nearest(self, vector: Floats) -> list[str]:
        scores = [-2.0 if held is None else float(held @ vector) for held in self.vectors]
        return [self.ids[place] for place in np.argsort(scores)[::-1][:3]]

    def _some(self, ids: Sequence[str]) -> list[VectorBatch]:
        return [self._batch([self.ids.index(name) for name in ids])]


def space(number: int = 90, **settings: Any) -> Space:
    """A clean collection of so many points."""
    rows = [
        {
            "point_id": str(uuid.UUID(int=place)),
            "page_key": f"/page-{place // 5}",
            "source_url": f"https://docs.example.com/page-{place // 5}",
            "text": text,
            "embedded_text": None,
            "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "text_hash": None,
            "title": f"Chapter {place // 5} of the handbook of robots",
            "headings": [f"Chapter {place // 5} of the handbook of robots", f"Section {place}"],
            "module": None,
            "chapter": None,
            "model": None,
            "embedded_at": None,
        }
        for place, text in enumerate(texts()[:number])
    ]
    assert len(rows) == number, "the demo's book has become shorter"
    return Space(rows, list(embedded([row["text"] for row in rows])), **settings)


def other_model(vectors: Sequence[Floats | None]) -> list[Floats]:
    """The same vectors in a space of their own."""
    turn, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((SIZE, SIZE)))
    return [(vector @ turn).astype(np.float32) for vector in vectors if vector is not None]


def subjects(measurement: Measurement) -> dict[str, set[str]]:
    """Subjects of every finding by code."""
    return named(measurement.findings)


def named(findings: Iterable[Finding]) -> dict[str, set[str]]:
    """Subjects of findings by code."""
    return {finding.code: {entry.name for entry in finding.subjects} for finding in findings}


class Refusing(StaticEmbedder):
    """Answers so many calls and then refuses."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def embed(self, texts: Sequence[str], *, input_type: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise SystemFailure("HTTP 401", code="embedder.unreachable", system="embedder", subject="HTTP 401")
        return super().embed(texts, input_type=input_type)
